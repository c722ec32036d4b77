"""DueHeaps: the hosts and addresses that rest, and those that are ready."""

from __future__ import annotations

import heapq
import itertools

from .host import NEVER, READY, Address, Host
from .politeness import Politeness

#: Among hosts that are due, a point of priority is worth this many seconds of waiting.
_PRIORITY_SECONDS = 1.0
#: How many stale entries the heap of those that rest may have besides one for each that is live.
_SLACK = 100


class DueHeaps:
    """
    The hosts and addresses that rest, by the time they are due; and those that are ready, by
    that time less their priority.

    Each has one live entry, at its *wakes_at*; an entry of another time is stale. One that
    becomes due later keeps its entry, which is corrected when it comes up; only one that
    becomes due earlier gets a new entry. So no entry is later than what it stands for.
    """

    def __init__(self, politeness: Politeness) -> None:
        self._politeness = politeness
        self._resting: list[tuple[float, int, Host | Address]] = []
        self._ready: list[tuple[float, int, int, Host | Address]] = []
        self._numbers = itertools.count()
        #: How many entries of those that rest are stale.
        self._stale = 0

    def starts_at(self, one: Host | Address) -> float | None:
        """Return when *one* may begin a request; None if it waits for more than time."""
        if isinstance(one, Address):
            is_free = one.in_flight < self._politeness.address_limit
            return one.ready_at if one.waiting and is_free else None
        if not one.has_work or one.waits_for_address or one.paused:
            return None
        if one.in_flight and one.in_flight >= self._politeness.limit_of(one):
            return None
        return one.due()

    def rest_until(self, due: float, one: Host | Address) -> None:
        """Wake *one* at *due*, unless it wakes earlier."""
        if due < one.wakes_at:
            if one.wakes_at < NEVER:
                self._stale += 1
            one.wakes_at = due
            heapq.heappush(self._resting, (due, next(self._numbers), one))
            if self._stale * 2 > len(self._resting) + _SLACK:
                self._drop_stale()

    def make_ready(self, one: Host | Address, due: float) -> None:
        """Put *one* among those that are ready, where it has been since *due*."""
        host = one.waiting[0] if isinstance(one, Address) else one
        number = next(self._numbers)
        if not host.batch_left:
            host.batch_place = (due, number)
        since, place = host.batch_place
        key = since - host.queue.priority * _PRIORITY_SECONDS
        heapq.heappush(self._ready, (key, place, number, one))

    def wake(self, now: float) -> None:
        """Make ready what is due by *now*."""
        # No entry is later than what it stands for: if the first is not due, nothing is.
        while self._resting and self._resting[0][0] <= now:
            one = self._first_resting()
            if one is None or one.wakes_at > now:
                return
            due = heapq.heappop(self._resting)[0]
            if isinstance(one, Host):
                one.move_due_retries(now)
            one.wakes_at = READY
            self.make_ready(one, due)

    def pop(self) -> Host | Address | None:
        """Take out the first of those that are ready; None if there are none."""
        while self._ready:
            one = heapq.heappop(self._ready)[3]
            if one.wakes_at == READY:
                one.wakes_at = NEVER
                return one
        return None

    def first(self) -> Host | Address | None:
        """Return the one that may begin a request first; None if all wait for more than time."""
        while self._ready and self._is_stale(self._ready[0][3]):
            heapq.heappop(self._ready)
        return self._ready[0][3] if self._ready else self._first_resting()

    def _is_stale(self, one: Host | Address) -> bool:
        """Return whether *one*, the first of those that are ready, is no longer ready."""
        if one.wakes_at != READY:
            return True
        if self.starts_at(one) is None:
            one.wakes_at = NEVER
            return True
        return False

    def _first_resting(self) -> Host | Address | None:
        """Return the one that is due first; drop or correct the entries before it."""
        resting = self._resting
        while resting:
            due, _, one = resting[0]
            if due != one.wakes_at:
                heapq.heappop(resting)
                self._stale -= 1
                continue
            start = self.starts_at(one)
            if start is None:
                heapq.heappop(resting)
                one.wakes_at = NEVER
            elif start > due:
                one.wakes_at = start
                heapq.heapreplace(resting, (start, next(self._numbers), one))
            else:
                return one
        return None

    def _drop_stale(self) -> None:
        """Drop all stale entries: those of a retry far ahead can become many before it is due."""
        live = {id(one): (due, n, one) for due, n, one in self._resting if due == one.wakes_at}
        self._resting = list(live.values())
        heapq.heapify(self._resting)
        self._stale = 0
