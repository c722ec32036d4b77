"""ClusterFrontier: the frontiers of the shards of this process, as one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import islice
from time import monotonic

import gevent
from gevent.event import Event

from .._give_way import give_way
from ..data import Link, Links, Request, Response
from ..errors import FrontierClosed, ModuleError
from ..frontier import Budget, Next, Outcome, Taken
from ..frontier.contract import Events
from ..frontier.hosts.wakeup import Wakeup
from ..frontier.outcome import failed
from .active_shard import ActiveShard
from .journal import OTHER_SHARD
from .shards import ShardMap
from .strikes import mark_of
from .view import ClusterView

log = logging.getLogger(__name__)


class ClusterFrontier:
    """
    Implements FrontierContract: takes from the frontiers of all *shards* in turn.

    A request belongs to the shard that it was taken from until it is over, even if that was
    dropped meanwhile: then it leaves no trace. What is admitted before the first take() are
    the first requests of the job. It is idle when the whole job is finished.

    *may_take* returns "" if requests may be taken now, or what must be waited for; *wait_for_room*
    waits while too much is not committed; *on_begin* is called with each request that is taken.
    """

    def __init__(
        self,
        shards: dict[int, ActiveShard],
        shard_map: ShardMap,
        wakeup: Wakeup,
        *,
        may_take: Callable[[], str],
        wait_for_room: Callable[[], object],
        on_begin: Callable[[Request], object],
        on_close: Callable[[], object],
    ) -> None:
        self.shards = shards
        self.events = Events()
        self.view = ClusterView(self)
        self.budget = Budget()
        self.resumed = True
        self.is_finished = False
        self.closed = False
        #: Why nothing is taken, in words; "" if something may be.
        self.waits_for = ""
        #: The first requests, until the job has them; None once requests are taken.
        self.first: list[Request | Link] = []
        #: Called when the last request that was taken is over.
        self.on_quiet: Callable[[], object] = bool
        self.flowing = Event()
        self.flowing.set()
        self._has_begun = False
        self._shard_map = shard_map
        self._wakeup = wakeup
        self._may_take = may_take
        self._wait_for_room = wait_for_room
        self._on_begin = on_begin
        self._on_close = on_close
        self._over = Event()
        self._owners: dict[Taken, ActiveShard] = {}
        self._next_shard = 0

    # -- in -----------------------------------------------------------------------------------

    def admit(
        self, found: Request | Link, page: Taken | None = None, *, is_awaited: bool = False
    ) -> str | None:
        if page is not None and not (is_awaited and self._is_of_another(found, page)):
            return self._owners[page].admit(found, page, is_awaited=is_awaited)
        if not self._has_begun:
            self.first.append(found)
            return None
        own = self._shard_map.of(found.url)
        shard = self.shards.get(-1 if own is None else own)
        if shard is None and not is_awaited:
            shard = next(iter(self.shards.values()), None)
        return OTHER_SHARD if shard is None else shard.admit(found, is_awaited=is_awaited)

    def _is_of_another(self, found: Request | Link, page: Taken) -> bool:
        """Return whether *found* is of another shard than *page*."""
        return self._shard_map.of(found.url) not in (None, self._owners[page].number)

    def admit_many(self, links: Links, page: Taken | None = None) -> None:
        if page is not None:
            self._owners[page].frontier.admit_many(links, page)
            return
        for shard in islice(self.shards.values(), 1):  # any of them may count a URL of no page
            shard.frontier.admit_many(links, None)

    def leave_out(self, links: Links, page: Taken) -> None:
        self._owners[page].frontier.leave_out(links, page)

    # -- out ----------------------------------------------------------------------------------

    def take(self) -> Taken:
        self._has_begun = True
        while True:
            self._wait_for_room()
            self.flowing.wait()
            if self.closed:
                raise FrontierClosed("the frontier is closed")
            self.waits_for = self._may_take()
            if self.waits_for:
                self._wakeup.sleep(0.0, None)
                continue
            taken = self._take_due()
            if taken is not None:
                return taken
            now = monotonic()
            until = self._next_due(now)
            if until is not None and until <= now:
                give_way()
            else:
                self._wakeup.sleep(now, until)

    def _take_due(self) -> Taken | None:
        """Take from the shard that was taken from last, or the next one that has a request due."""
        shards = list(self.shards.values())
        start = self._next_shard
        for n in range(len(shards)):
            place = (start + n) % len(shards)
            taken = self._take_from(shards[place]) if shards[place].may_take else None
            if taken is not None:
                self._next_shard = place
                self._owners[taken] = shards[place]
                if not taken.is_robots:
                    self._on_begin(taken.request)
                return taken
        return None

    def _take_from(self, shard: ActiveShard) -> Taken | None:
        """Take from *shard* if something is due; pages that have ended processes are set aside."""
        strikes = shard.journal.strikes
        while (taken := shard.frontier.take_due()) is not None:
            if not strikes.numbers or taken.is_robots:
                return taken
            mark = mark_of(shard.number, taken.request)
            taken.is_suspect = mark in strikes
            if not strikes.is_out(mark):
                return taken
            log.warning("%s is set aside: its analysis has ended schedulers", taken.request)
            shard.frontier.settle(taken, failed("quarantined"))
            self.events.on_drop(taken.request, failed("quarantined"))
        return None

    def _next_due(self, now: float) -> float | None:
        shards = [shard for shard in self.shards.values() if shard.may_take]
        times = [shard.frontier.next_due(now) for shard in shards]
        return min((when for when in times if when is not None), default=None)

    # -- of what was taken ---------------------------------------------------------------------

    def fetched(self, taken: Taken, result: Response | ModuleError) -> Next | Outcome:
        after = self._owners[taken].frontier.fetched(taken, result)
        self._forget(taken)
        return after

    def begin_analysis(self, taken: Taken) -> None:
        self._owners[taken].frontier.begin_analysis(taken)

    def end_analysis(self, taken: Taken) -> None:
        if taken in self._owners:
            self._owners[taken].frontier.end_analysis(taken)

    def mark_heavy(self, taken: Taken, *, is_heavy: bool = True) -> None:
        if taken in self._owners:
            self._owners[taken].frontier.mark_heavy(taken, is_heavy=is_heavy)

    def settle(self, taken: Taken, outcome: Outcome) -> None:
        self._owners[taken].frontier.settle(taken, outcome)
        self._forget(taken)

    def put_back(self, taken: Taken) -> None:
        self._owners[taken].frontier.put_back(taken)
        self._forget(taken)

    def _forget(self, taken: Taken) -> None:
        if taken.is_over:
            del self._owners[taken]
            if not self._owners:
                self.on_quiet()

    def recall(self, shard: ActiveShard | None = None) -> None:
        """Have the transfers of *shard*, or of all, closed: its hosts may be another's now."""
        owners = self._owners
        self.events.on_recall(lambda taken: shard is None or owners.get(taken) is shard)

    # -- the whole ----------------------------------------------------------------------------

    def finish(self) -> None:
        """Note that the job is finished."""
        self.is_finished = True
        self._over.set()
        self._wakeup.wake()

    def join(self, timeout: float | None = None) -> bool:
        with gevent.Timeout(timeout, False):  # type: ignore[arg-type]  # the stubs do not know False
            self._over.wait()
        return self.is_finished

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self.events.clear()
        self.flowing.set()
        self._wakeup.wake()
        self.view.keep()
        self._on_close()
        self._over.set()

    def pause(self, host: str | None = None) -> None:
        if host is None:
            self.flowing.clear()
        else:
            for shard in self.shards.values():
                shard.frontier.pause(host)

    def resume(self, host: str | None = None) -> None:
        if host is None:
            self.flowing.set()
        else:
            for shard in self.shards.values():
                shard.frontier.resume(host)

    def set_delay(self, host: str, seconds: float) -> None:
        for shard in self.shards.values():
            shard.frontier.set_delay(host, seconds)

    def cut_off(self, reason: str) -> None:
        for shard in self.shards.values():
            shard.frontier.cut_off(reason)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "paused" if self.view.paused else "open"
        return f"<ClusterFrontier {state}, {len(self.shards)} shards, {len(self._owners)} taken>"
