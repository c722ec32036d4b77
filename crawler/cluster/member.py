"""Member: this process as one of the schedulers of a job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .._words import counted
from ..data import Request
from ..errors import CrawlerError, RedisAway
from ..frontier import Budget, FrontierContract, Outcome
from ..frontier.hosts.wakeup import Wakeup
from ..job.contract import CrawlCookies
from ..job.outputs import JobOutputs
from .active_shard import ActiveShard
from .foreign_fetches import Fetch, ForeignFetches
from .frontier import ClusterFrontier
from .held_shards import HeldShards
from .inboxes import Inboxes
from .job_record import JobRecord
from .lease_keeper import LeaseKeeper
from .leases import LeaseTable
from .loading import ShardMaker
from .quota import Quota
from .server import Server
from .shard_cookies import ShardCookies
from .shards import ShardMap
from .strikes import MarkFile, mark_of, strikes_of_the_dead

log = logging.getLogger(__name__)

OnStuck = Callable[[Request], object]


class Member:
    """
    Works on a job: claims shards, loads them, commits what they decide, and gives them back.

    Implements CrawlJob and CrawlJournal. *least_rest* is how many seconds every host with
    requests rests first in a shard that was loaded; *by_domain* is whether the hosts of a domain
    are in one shard. In *folder* is noted which pages are under analysis, so that one that ends
    schedulers is set aside; they count for the next scheduler that has the same folder. *limits*
    are those of the whole job, for all schedulers together.
    """

    def __init__(
        self,
        url: str,
        record: JobRecord,
        *,
        least_rest: float = 0.0,
        by_domain: bool = False,
        folder: Path | None = None,
        limits: Budget | None = None,
    ) -> None:
        self.record = record
        self.journal = self
        self.outputs = JobOutputs(Path.cwd(), {}, {})
        self.duplicate_filter = "bloom"
        self._folder = folder
        self._mark_file = None if folder is None else MarkFile(folder)
        self.on_stuck: OnStuck | None = None if folder is None else self._end_process
        #: The job's status as Redis last showed it.
        self.status = "running"
        #: Whether this process ends because the job was asked to restart.
        self.is_restarting = False
        #: How often the job had been restarted when this process joined; None before an answer.
        self._restarts: int | None = None
        self.server = Server(url, record.keys, lambda: self._is_closing)
        self._map = ShardMap(record.keys.shards, by_domain=by_domain)
        self._least_rest = least_rest
        self._limits = limits or Budget()
        self._wakeup = Wakeup()
        self._table = LeaseTable(len(record.keys.leases), record.ttl)
        self._active: dict[int, ActiveShard] = {}
        self._foreign = ForeignFetches(self.server, self._active, self._map, self._table)
        self._cookies = ShardCookies(self._active, self._map)
        self._is_closing = False
        self._fails: Callable[[CrawlerError], object] = bool
        self.held: HeldShards
        self.leases: LeaseKeeper
        self.inboxes: Inboxes
        self.quota: Quota
        self.frontier: ClusterFrontier

    # -- CrawlJob and CrawlJournal ------------------------------------------------------------

    def open_frontier(self, make: Callable[..., FrontierContract]) -> ClusterFrontier:
        record = self.record
        self.server.life = self.server.begin_life()
        self.held = held = HeldShards(self.server, record, self._table, self._wakeup, self._active)
        self.leases = self._keep_leases()
        held.commits.on_failure = self._fail
        held.commits.on_status = self._note_status
        held.on_drop = self._dropped
        held.maker = ShardMaker(
            record,
            self._map,
            make,
            self._wakeup,
            now=self.leases.now,
            outputs=self.outputs,
            on_change=held.commits.changed,
            least_rest=self._least_rest,
            duplicate_filter=self.duplicate_filter,
            marker=None if self._mark_file is None else self._mark_file.marker,
        )
        self.quota = self._open_quota()
        reader = Server(self.server.url, record.keys, lambda: True)
        self.inboxes = Inboxes(reader, held.active, self.leases.hurry, self._wakeup.wake)
        held.on_load = self._loaded
        held.on_forget = self._forgotten
        self.frontier = ClusterFrontier(
            held.active,
            self._map,
            self._wakeup,
            may_take=self._may_take,
            wait_for_room=held.commits.wait_for_room,
            on_begin=self.quota.begin,
            on_close=self._close,
        )
        self.frontier.on_quiet = self._note_quiet
        for strikes in strikes_of_the_dead(self._folder) if self._folder is not None else ():
            held.send_strikes(strikes)
        return self.frontier

    def watch_failures(self, on_failure: Callable[[CrawlerError], object]) -> None:
        self._fails = on_failure

    def around_fetch(
        self, fetch: Fetch, waiting: Callable[[], AbstractContextManager[None]]
    ) -> Fetch:
        return self._foreign.around(fetch, waiting)

    def keep_cookies(self, cookies: CrawlCookies) -> None:
        self._cookies.keep(cookies)

    def begin(self, about: Mapping[str, Any]) -> None:
        """Do nothing: what the job is about was compared before."""

    def fact(self, _name: str) -> None:
        return None

    def include(self, name: str, figures: Callable[[], Any]) -> None:
        """Do nothing: the figures of a run are those of its process."""

    def fetched_aside(self, request: Request) -> None:
        self.outputs.discard(request.id)

    def write_figures(self) -> None:
        """Do nothing: each shard has its counts."""

    def commit_figures(self) -> dict[str, Any]:
        return self.held.commits.measured() if hasattr(self, "held") else {}

    # -- inside -------------------------------------------------------------------------------

    def _keep_leases(self) -> LeaseKeeper:
        return LeaseKeeper(
            self.server,
            self.record,
            self._table,
            self.held,
            self._wakeup,
            first=lambda: self.frontier.first,
            figures=lambda: {**self.held.figures(), "status": self.status},
            on_status=self._note_status,
            on_silence=self._recall,
            on_restarts=self._note_restarts,
            on_failure=self._fail,
        )

    def _open_quota(self) -> Quota:
        return Quota(
            self.server,
            self.record,
            self._limits,
            self.held.active,
            id_=self.leases.id,
            on_limit=lambda reason: self.frontier.cut_off(reason),  # noqa: PLW0108 - not made yet
            wake=self._wakeup.wake,
        )

    def _fail(self, error: CrawlerError) -> None:
        self._fails(error)

    def _end_process(self, request: Request) -> None:
        shard = self._map.of(request.url)
        if self._mark_file is not None and shard is not None:
            self._mark_file.end_process(mark_of(shard, request))

    def _may_take(self) -> str:
        if self.status == "paused":
            return "the job is paused"
        if not self.leases.is_proved:
            self.quota.forget()
            return "an answer from Redis"
        if self.leases.is_full:
            return "room in Redis, which has used 80 % of its maxmemory"
        if self.quota.may_begin(self.frontier.view):
            return ""
        return "pages that other schedulers may still begin"

    def _recall(self, shard: ActiveShard | None = None) -> None:
        self.frontier.recall(shard)

    def _forgotten(self, shard: ActiveShard) -> None:
        self._recall(shard)
        self._cookies.forget(shard)

    def _loaded(self, shard: ActiveShard) -> None:
        self._cookies.load(shard)
        shard.on_ask = self._foreign.answer
        self.inboxes.wake()
        if self.quota.reached:
            shard.frontier.cut_off(self.quota.reached)

    def _dropped(self, request: Request, outcome: Outcome) -> None:
        self.frontier.events.on_drop(request, outcome)

    def _note_status(self, status: str) -> None:
        if status == self.status:
            return
        self.status = status
        log.info("the job is %s", status)
        if status in {"finished", "stopped"}:
            self.frontier.finish()
        self._wakeup.wake()
        self.leases.hurry()

    def _note_quiet(self) -> None:
        """Show the others that nothing is in flight in a job that is paused."""
        if self.status == "paused":
            self.leases.hurry()

    def _note_restarts(self, number: int) -> None:
        if self._restarts is None:
            self._restarts = number
        elif number > self._restarts and not self.is_restarting:
            log.info("the job is restarted")
            self.is_restarting = True
            self.frontier.finish()

    def _close(self) -> None:
        """Commit what is left, and give all shards back."""
        self._is_closing = True
        self.leases.claim_no_more()
        try:
            self.held.close()
        except RedisAway as error:
            held = counted(len(self.held.active), "shard")
            log.warning("%s held here are free when their leases have run out: %s", held, error)
        finally:
            self.quota.close()
            self.leases.close()
            self.inboxes.close()
            self.server.close()
            if self._mark_file is not None:
                self._mark_file.close()
