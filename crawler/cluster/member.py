"""Member: this process as one of the schedulers of a job."""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gevent
from gevent.lock import Semaphore

from .._words import counted
from ..data import Request
from ..errors import ClusterError, CrawlerError, RedisAway
from ..frontier import FrontierContract, Outcome
from ..frontier.hosts.wakeup import Wakeup
from ..job.outputs import JobOutputs
from .active_shard import ActiveShard
from .commits import Call, ClusterCommits
from .comparison import is_there
from .fold import ShardState
from .frontier import ClusterFrontier
from .inboxes import Inboxes
from .job_record import JobRecord
from .leases import LeaseTable, Renewal
from .loading import ShardMaker, loaded_state
from .renewals import Renewals, boot_time
from .server import Server
from .shards import ShardMap

log = logging.getLogger(__name__)

#: The part of a lease's time, and the most seconds, that a process stops before its end.
_MARGIN_SHARE = 0.2
_MARGIN = 2.0


class Member:
    """
    Works on a job: claims shards, loads them, commits what they decide, and gives them back.

    Implements CrawlJob and CrawlJournal. *least_rest* is how many seconds every host with
    requests rests first in a shard that was loaded; *by_domain* is whether the hosts of a domain
    are in one shard.
    """

    def __init__(
        self, url: str, record: JobRecord, *, least_rest: float = 0.0, by_domain: bool = False
    ) -> None:
        self.record = record
        self.journal = self
        self.outputs = JobOutputs(Path.cwd(), {}, {})
        self.duplicate_filter = "bloom"
        self.on_stuck: Callable[[Request], object] | None = None
        self.shards: dict[int, ActiveShard] = {}
        #: The job's status as Redis last showed it.
        self.status = "running"
        self.server = Server(url, record.keys, lambda: self._is_closing)
        self._url = url
        self._map = ShardMap(record.keys.shards, by_domain=by_domain)
        self._leases = LeaseTable(len(record.keys.leases), record.ttl)
        self._least_rest = least_rest
        self._wakeup = Wakeup()
        #: Shards that were dropped, by number, while requests of them were still in flight.
        self._orphans: list[ActiveShard] = []
        self._id = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"
        self._proved = 0.0
        self._connected = boot_time()
        self._offset = 0.0
        self._is_closing = False
        self._claiming = Semaphore()
        self._fails: Callable[[CrawlerError], object] = bool
        self._maker: ShardMaker
        self._commits: ClusterCommits
        self._inboxes: Inboxes
        self._renewals: Renewals
        self.frontier: ClusterFrontier

    # -- CrawlJob and CrawlJournal ------------------------------------------------------------

    def open_frontier(self, make: Callable[..., FrontierContract]) -> ClusterFrontier:
        self._commits = ClusterCommits(
            self.server, self.shards, drop=self.drop, verify=self._compare
        )
        self._maker = ShardMaker(
            self.record,
            self._map,
            make,
            self._wakeup,
            now=lambda: boot_time() + self._offset,
            outputs=self.outputs,
            on_change=self._commits.changed,
            least_rest=self._least_rest,
            duplicate_filter=self.duplicate_filter,
        )
        self._commits.on_failure = self._fail
        self._commits.on_status = self._note_status
        self._inboxes = Inboxes(Server(self._url, self.record.keys, lambda: True), self.shards)
        self.frontier = ClusterFrontier(
            self.shards,
            self._map,
            self._wakeup,
            may_take=self._may_take,
            wait_for_room=self._commits.wait_for_room,
            on_close=self._close,
        )
        self.server.life = self.server.begin_life()
        keys, ttl = self.record.keys, self.record.ttl
        self._renewals = Renewals(self._url, keys, ttl, self._renewal_args, self._renewed)
        return self.frontier

    def watch_failures(self, on_failure: Callable[[CrawlerError], object]) -> None:
        self._fails = on_failure

    def _fail(self, error: CrawlerError) -> None:
        self._fails(error)

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

    # -- leases -------------------------------------------------------------------------------

    def _renewal_args(self) -> tuple[str, str, list[str]]:
        figures = {"shards": len(self.shards), "done": self._done()}
        return self._id, json.dumps(figures), self._leases.tokens()

    def _done(self) -> int:
        return sum(shard.frontier.view.counts().done for shard in list(self.shards.values()))

    def _renewed(self, answer: Renewal | None, sent: float) -> None:
        """Take the answer to a renewal: lose, claim and drain shards."""
        if self._renewals.failure is not None:
            self._fail(self._renewals.failure)
            return
        now = boot_time()
        if answer is None:
            self._connected = now
            self._leases.forget(now)
            return
        try:
            if answer.run != self.server.life:
                self._commits.compare()
                self._connected = boot_time()
                self._leases.forget(self._connected)
                return
            self._take_answer(answer, sent, now)
        except RedisAway:
            log.debug("Redis went away while a renewal was handled")

    def _take_answer(self, answer: Renewal, sent: float, now: float) -> None:
        self._leases.observe(answer.leases, now)
        self._offset = answer.now - now
        for number in self._leases.lost(sent):
            shard = self.shards.get(number)
            if shard is not None:
                self.drop(shard)
            else:
                self._leases.mine.pop(number, None)
        self._proved = sent
        self._note_status(answer.status)
        self._wakeup.wake()
        if answer.calm != answer.run and now - self._connected >= self.record.ttl:
            self.server.call("mark", [self.record.keys.job], "calm", answer.run)
        share = -(-self.record.keys.shards // max(1, answer.live))
        self._drain(share)
        # Loading takes long, and the next renewal must be handled meanwhile.
        gevent.spawn(self._claim, share, now)

    def _may_take(self) -> str:
        if self.status == "paused":
            return "the job is paused"
        margin = min(_MARGIN, self.record.ttl * _MARGIN_SHARE)
        if boot_time() - self._proved > self.record.ttl - margin:
            return "an answer from Redis"
        return ""

    def _claim(self, share: int, now: float) -> None:
        if self._is_closing or self._claiming.locked() or self.status == "finished":
            return
        with self._claiming:
            try:
                for number in list(self._leases.claimable(now)):
                    if self._is_wanted(number, share):
                        self._claim_one(number)
            except RedisAway:
                log.debug("Redis went away while shards were claimed")
            except (CrawlerError, ValueError) as error:
                self._fail(error if isinstance(error, CrawlerError) else ClusterError(str(error)))

    def _is_wanted(self, number: int, share: int) -> bool:
        if number == self.record.keys.shards:
            return self._leases.seen(number).pending != "0"
        return len(self.shards) < share and not self._is_orphaned(number)

    def _claim_one(self, number: int) -> None:
        seen, token, keys = self._leases.seen(number), self._leases.new_token(), self.record.keys
        wanted = [keys.job, keys.leases[number]]
        answer = self.server.call("claim", wanted, token, seen.token, seen.beat)
        if answer[0] != b"OK" or self._is_closing:
            return
        self._leases.mine[number] = (token, boot_time())
        if number == keys.shards:
            self._send_first(number, token, answer[1])
        else:
            self._load(number, token, answer[1])

    def _is_orphaned(self, number: int) -> bool:
        """Return whether requests of an earlier holding of the shard are still in flight."""
        self._orphans = [orphan for orphan in self._orphans if orphan.taken]
        return any(orphan.number == number for orphan in self._orphans)

    def _drain(self, share: int) -> None:
        """Give shards back if there are two more than our share, or the process ends."""
        held = [shard for shard in self.shards.values() if not shard.is_draining]
        excess = len(held) - share
        for shard in held[:excess] if excess >= 2 else ():
            shard.is_draining = True
            gevent.spawn(self._give_back_when_quiet, shard)

    def _give_back_when_quiet(self, shard: ActiveShard) -> None:
        while shard.taken and not shard.is_dropped:
            gevent.sleep(0.05)
        self._commits.write()
        if not shard.is_dropped:
            self._give_back(shard)

    def _give_back(self, shard: ActiveShard) -> None:
        lease = [self.record.keys.leases[shard.number]]
        self._forget(shard)
        self.server.call("release", lease, shard.token, shard.seq)

    def drop(self, shard: ActiveShard) -> None:
        """Let go of a shard that another has now, or that is ahead of Redis."""
        log.info("shard %d is given up: it is loaded anew from Redis", shard.number)
        self._forget(shard)

    def _forget(self, shard: ActiveShard) -> None:
        if self.shards.get(shard.number) is shard:
            del self.shards[shard.number]
            self._leases.mine.pop(shard.number, None)
            self._orphans.append(shard)
        shard.drop()
        self._wakeup.wake()

    # -- loading ------------------------------------------------------------------------------

    def _load(self, number: int, token: str, seq: int) -> None:
        """Fold the journal of a shard that was claimed, and begin to take from it."""
        state, counts = loaded_state(self.server, self.record, number)
        if state.seq != seq or not self._leases.holds(number, token):
            self._leases.mine.pop(number, None)
            return
        self._activate(number, token, state, counts)

    def _activate(
        self, number: int, token: str, state: ShardState, counts: dict[str, Any]
    ) -> ActiveShard:
        shard = self.shards[number] = self._maker.make(number, token, state, counts)
        shard.frontier.events.on_drop = self._dropped
        self._inboxes.wake()
        self._wakeup.wake()
        return shard

    def _dropped(self, request: Request, outcome: Outcome) -> None:
        self.frontier.events.on_drop(request, outcome)

    def _send_first(self, number: int, token: str, seq: int) -> None:
        """Send the first requests to their shards; the lease is then of no more use."""
        shard = self._activate(number, token, ShardState(seq=seq), {})
        for request in self.frontier.first:
            shard.admit(request)
        shard.journal.batch.rows.append(["s", len(self.frontier.first)])
        self._commits.changed(False)
        self._commits.write()
        if not shard.is_dropped:
            self._give_back(shard)

    # -- after a restart of Redis ---------------------------------------------------------------

    def _compare(self, call: Call) -> None:
        """Drop the shards that Redis does not have as they were last answered: it has lost its end."""
        life = self.server.begin_life()
        for shard in list(self.shards.values()):
            in_call = call.batches.get(shard.number)
            if not is_there(self.server, shard, in_call.seq if in_call is not None else None):
                self._commits.lose(call, shard.number)
        self.server.life = life

    # -- the end ------------------------------------------------------------------------------

    def _note_status(self, status: str) -> None:
        if status == self.status:
            return
        self.status = status
        log.info("the job is %s", status)
        if status in {"finished", "stopped"}:
            self.frontier.finish()
        self._wakeup.wake()

    def _close(self) -> None:
        """Commit what is left, and give all shards back."""
        self._is_closing = True
        try:
            self._commits.close()
            for shard in list(self.shards.values()):
                self._give_back(shard)
        except RedisAway as error:
            held = counted(len(self.shards), "shard")
            log.warning("%s held here are free when their leases have run out: %s", held, error)
        finally:
            self._renewals.close()
            self._inboxes.close()
            self.server.close()
