"""Pace: how long a crawl takes for a page."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..scheduler import Summary

#: The pages and the seconds that the pace is computed from, if the crawl has them.
_PAGES, _SECONDS = 20, 10.0
#: The seconds that there must be.
_MIN_SECONDS = 2.0
#: The number of marks that are kept.
_MARKS = 400
#: Without a page for so many times the usual time, the wait counts too.
_LATE = 3.0
#: Rests that are part of the usual pace; others are exceptions.
_USUAL = frozenset({"", "delay", "latency", "crawl-delay", "bandwidth", "address", "slow hosts"})


class Mark(NamedTuple):
    """How many URLs were settled and admitted when pages were settled last, *at* so many seconds."""

    at: float
    settled: int
    admitted: int


class Pace:
    """
    The seconds that a page takes: the average over the last pages, so that it is steady.

    The time in which the whole crawl waits for a host that fails, or has asked for fewer
    requests, does not count: such a rest says nothing about the pages after it.
    """

    def __init__(self, first: Summary) -> None:
        self._last = first
        #: Seconds without exceptional rests.
        self._at = 0.0
        #: Seconds that the present exceptional rest will still take.
        self._rest = 0.0
        self._marks: deque[Mark] = deque([_mark(0.0, first)], maxlen=_MARKS)

    def add(self, now: Summary) -> None:
        rests = _is_exceptional_rest(now)
        if not rests:
            self._at += now.elapsed - self._last.elapsed
        self._rest = (now.next_wake or 0.0) if rests else 0.0
        self._last = now
        if _settled(now) > self._marks[-1].settled:
            self._marks.append(_mark(self._at, now))

    @property
    def base(self) -> Mark:
        """The mark that the pace is computed from."""
        last = self._marks[-1]
        for mark in reversed(self._marks):
            if last.settled - mark.settled >= _PAGES and last.at - mark.at >= _SECONDS:
                return mark
        return self._marks[0]

    def seconds_for(self, pages: int) -> float | None:
        """Return how long *pages* will take, or None if that cannot be known yet."""
        last, base = self._marks[-1], self.base
        seconds, done, since = last.at - base.at, last.settled - base.settled, self._at - last.at
        if not done or not seconds or seconds + since < _MIN_SECONDS:
            return None
        each = seconds / done
        if since > _LATE * max(each, 1.0):
            each, since = (seconds + since) / (done + 1), 0.0
        return max(0.0, pages * each - min(since, each)) + self._rest


def _mark(at: float, summary: Summary) -> Mark:
    return Mark(at, _settled(summary), summary.urls.admitted)


def _settled(summary: Summary) -> int:
    return summary.urls.admitted - summary.urls.pending


def _is_exceptional_rest(now: Summary) -> bool:
    at_work = any(module.handling for module in (*now.downloaders, *now.analyzers, *now.pipelines))
    return now.paused or (now.resting not in _USUAL and not at_work)
