"""The progress of a crawl: its figures over time, the time left, and the slowest hosts."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from ..frontier import Budget, HostFigures
from ..scheduler import Summary
from .bottleneck import Bottleneck, BottleneckTimes
from .history import History
from .pace import Pace

#: A crawl counts as finding nothing new below this number of new URLs per settled URL.
_FEW_NEW = 0.02
#: The number of slowest hosts that are shown.
_SLOWEST = 5


@dataclass(frozen=True)
class TimeLeft:
    """Seconds to the end; *at_most* if only a limit of time is known."""

    seconds: float
    at_most: bool = False


@dataclass(frozen=True)
class Moment:
    """A crawl at one moment; *time_left* is None if it cannot be known."""

    summary: Summary
    bottleneck: Bottleneck
    time_left: TimeLeft | None
    #: The slowest of the hosts with the most requests, slowest first.
    hosts: list[HostFigures]


class Progress:
    """Follows a crawl: give update() its summary at regular intervals."""

    def __init__(self, first: Summary, budget: Budget) -> None:
        self.bottlenecks = BottleneckTimes()
        self.history = History()
        #: The hosts with the most requests, as update() was given them last.
        self.busiest_hosts: list[HostFigures] = []
        self._budget = budget
        self._last = first
        self._pace = Pace(first)
        self._hosts: list[HostFigures] = []
        self._slowest: dict[str, HostFigures] = {}

    def update(self, summary: Summary, hosts: Iterable[HostFigures] | None = None) -> Moment:
        """Return the crawl at this moment; without *hosts*, the last ones given still count."""
        self.bottlenecks.add(self._last, summary)
        self._pace.add(summary)
        self.history.add(summary)
        self._last = summary
        if hosts is not None:
            self.busiest_hosts = list(hosts)
            self._hosts = slowest(self.busiest_hosts)
            self._remember(self._hosts)
        left = time_left(self._pace, summary, self._budget)
        return Moment(summary, self.bottlenecks.current, left, self._hosts)

    @property
    def slowest_hosts(self) -> list[HostFigures]:
        """The slowest hosts of the whole crawl, each with its figures when it was slowest."""
        return slowest(self._slowest.values())

    def _remember(self, hosts: Iterable[HostFigures]) -> None:
        for row in hosts:
            known = self._slowest.get(row.host)
            if known is None or row.latency >= known.latency:
                self._slowest[row.host] = row
        self._slowest = {row.host: row for row in self.slowest_hosts}


def slowest(rows: Iterable[HostFigures]) -> list[HostFigures]:
    answered = (row for row in rows if row.latency)
    return heapq.nlargest(_SLOWEST, answered, key=lambda row: row.latency)


def time_left(pace: Pace, now: Summary, budget: Budget) -> TimeLeft | None:
    """
    Return how long the crawl will still take, or None if that cannot be known.

    It can be known when the crawl finds almost no new URLs, or has found all the pages that its
    *budget* allows. A budget of time is always an upper bound.
    """
    bound = None if budget.seconds is None else max(0.0, budget.seconds - now.elapsed)
    pages = _pages_left(pace, now, budget)
    seconds = None if pages is None else pace.seconds_for(pages)
    if seconds is not None:
        return TimeLeft(seconds if bound is None else min(seconds, bound))
    return None if bound is None else TimeLeft(bound, at_most=True)


def _pages_left(pace: Pace, now: Summary, budget: Budget) -> int | None:
    settled, base = now.urls.admitted - now.urls.pending, pace.base
    if budget.pages is not None and 0 <= budget.pages - settled <= now.urls.pending:
        return budget.pages - settled
    found = now.urls.admitted - base.admitted
    return now.urls.pending if found <= _FEW_NEW * (settled - base.settled) else None
