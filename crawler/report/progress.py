"""Watch: looks at a crawl again and again, and makes out what the figures mean."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic

from ..frontier import Budget, HostFigures
from ..scheduler import Scheduler, Summary
from .bottleneck import Limit, Tally

#: How many moments the time left is made out from.
_WINDOW = 40
#: Seconds they must span at least.
_LEAST = 2.0
#: New URLs for each one settled, below which a crawl is taken to find nothing new.
_NEW = 0.02
#: How many of the busiest hosts are looked at, and how many of the slowest are shown.
_BUSIEST, _SLOWEST = 20, 5
#: Looking at hosts may take this share of the time: with 100,000 of them it takes a while.
_SHARE = 0.01


@dataclass(frozen=True)
class Left:
    """Seconds to the end; *at_most* where only a limit of time is known."""

    seconds: float
    at_most: bool = False


@dataclass(frozen=True)
class Moment:
    """A crawl at one moment: its *summary*, what holds it up, and what is left if that is known."""

    summary: Summary
    limit: Limit
    left: Left | None
    #: The slowest of the hosts with the most to do, slowest first.
    hosts: list[HostFigures]


class Watch:
    """Remembers what look() has seen, as far as the live view and the report need it."""

    def __init__(self, scheduler: Scheduler, budget: Budget) -> None:
        self.tally = Tally()
        self._scheduler = scheduler
        self._budget = budget
        self._seen: deque[Summary] = deque([scheduler.summary()], maxlen=_WINDOW)
        self._hosts: list[HostFigures] = []
        self._slowest: dict[str, HostFigures] = {}
        self._hosts_due = 0.0

    def look(self) -> Moment:
        summary = self._scheduler.summary()
        self.tally.add(self._seen[-1], summary)
        self._seen.append(summary)
        self._look_at_hosts()
        left = time_left(self._seen[0], summary, self._budget)
        return Moment(summary, self.tally.present, left, self._hosts)

    @property
    def slowest(self) -> list[HostFigures]:
        """The slowest hosts of the whole crawl, each when it was slowest."""
        return slowest(self._slowest.values())

    def _look_at_hosts(self) -> None:
        begun = monotonic()
        if begun < self._hosts_due:
            return
        rows = self._scheduler.hosts(_BUSIEST)
        self._hosts_due = monotonic() + (monotonic() - begun) / _SHARE
        self._hosts = slowest(rows)
        for row in self._hosts:
            known = self._slowest.get(row.host)
            if known is None or row.latency >= known.latency:
                self._slowest[row.host] = row
        self._slowest = {row.host: row for row in self.slowest}


def slowest(rows: Iterable[HostFigures]) -> list[HostFigures]:
    answered = (row for row in rows if row.latency)
    return heapq.nlargest(_SLOWEST, answered, key=lambda row: row.latency)


def time_left(earlier: Summary, now: Summary, budget: Budget) -> Left | None:
    """
    Say how long a crawl will take, if that can be known.

    It can when it finds next to nothing new, or has found all the pages it may fetch; a limit
    of time is a bound in any case.
    """
    bound = None if budget.seconds is None else max(0.0, budget.seconds - now.elapsed)
    pages, rate = _pages_left(earlier, now, budget), _rate(earlier, now)
    if pages is not None and rate > 0 and now.elapsed - earlier.elapsed >= _LEAST:
        seconds = pages / rate
        return Left(seconds if bound is None else min(seconds, bound))
    return None if bound is None else Left(bound, at_most=True)


def _pages_left(earlier: Summary, now: Summary, budget: Budget) -> int | None:
    settled = _settled(now)
    if budget.pages is not None and 0 <= budget.pages - settled <= now.urls.pending:
        return budget.pages - settled
    found = now.urls.admitted - earlier.urls.admitted
    return now.urls.pending if found <= _NEW * (settled - _settled(earlier)) else None


def _rate(earlier: Summary, now: Summary) -> float:
    seconds = now.elapsed - earlier.elapsed
    return (_settled(now) - _settled(earlier)) / seconds if seconds > 0 else 0.0


def _settled(summary: Summary) -> int:
    return summary.urls.admitted - summary.urls.pending
