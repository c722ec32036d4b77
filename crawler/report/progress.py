"""The progress of a crawl: its figures over time, the time left, and the slowest hosts."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from ..frontier import Budget, HostFigures
from ..scheduler import Summary
from .bottleneck import Bottleneck, BottleneckTimes

#: The number of moments that the time left is computed from.
_WINDOW = 40
#: The seconds that they must span.
_MIN_SPAN = 2.0
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
        self._budget = budget
        self._recent: deque[Summary] = deque([first], maxlen=_WINDOW)
        self._hosts: list[HostFigures] = []
        self._slowest: dict[str, HostFigures] = {}

    def update(self, summary: Summary, hosts: Iterable[HostFigures] | None = None) -> Moment:
        """Return the crawl at this moment; without *hosts*, the last ones given still count."""
        self.bottlenecks.add(self._recent[-1], summary)
        self._recent.append(summary)
        if hosts is not None:
            self._hosts = slowest(hosts)
            self._remember(self._hosts)
        left = time_left(self._recent[0], summary, self._budget)
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


def time_left(earlier: Summary, now: Summary, budget: Budget) -> TimeLeft | None:
    """
    Return how long the crawl will still take, or None if that cannot be known.

    It can be known when the crawl finds almost no new URLs, or has found all the pages that its
    *budget* allows. A budget of time is always an upper bound.
    """
    bound = None if budget.seconds is None else max(0.0, budget.seconds - now.elapsed)
    pages, rate = _pages_left(earlier, now, budget), _rate(earlier, now)
    if pages is not None and rate > 0 and now.elapsed - earlier.elapsed >= _MIN_SPAN:
        seconds = pages / rate
        return TimeLeft(seconds if bound is None else min(seconds, bound))
    return None if bound is None else TimeLeft(bound, at_most=True)


def _pages_left(earlier: Summary, now: Summary, budget: Budget) -> int | None:
    settled = _settled(now)
    if budget.pages is not None and 0 <= budget.pages - settled <= now.urls.pending:
        return budget.pages - settled
    found = now.urls.admitted - earlier.urls.admitted
    return now.urls.pending if found <= _FEW_NEW * (settled - _settled(earlier)) else None


def _rate(earlier: Summary, now: Summary) -> float:
    seconds = now.elapsed - earlier.elapsed
    return (_settled(now) - _settled(earlier)) / seconds if seconds > 0 else 0.0


def _settled(summary: Summary) -> int:
    return summary.urls.admitted - summary.urls.pending
