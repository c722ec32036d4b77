"""Visit: a request from take() until it is settled; Visits: all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import gevent
from gevent.event import Event

from .._waiters import Waiters
from ..buffer import Pool
from ..frontier import DONE, FrontierContract, Outcome, Taken, failed
from .analysis_turns import AnalysisTurns
from .memory_guard import Memory, MemoryGuard
from .page_size import LARGE

T = TypeVar("T")

#: What a worker that waits takes in memory, in bytes: its greenlet, and the datum that it holds.
_WAITING = 16 * 1024


class Visit:
    """
    A taken request that is not settled yet.

    *open* counts its data that wait in pools or are held by workers: its request, its response,
    each of its items. When the last one is finished, the visit ends with *outcome*, unless the
    request is back in the frontier by then. *size* is what it takes in memory, in bytes: the body
    of its response, and what its analysis needs while that runs. *links* is the number of links
    and requests that were found on it.
    """

    __slots__ = (
        "analysis_size",
        "has_slot",
        "links",
        "open",
        "outcome",
        "request",
        "size",
        "taken",
        "waiting",
    )

    def __init__(self, taken: Taken) -> None:
        self.taken = taken
        self.request = taken.request
        self.open = 1
        self.size = 0
        #: What its analysis needs besides the body, in bytes.
        self.analysis_size = 0
        self.links = 0
        #: How many of its data are held by workers that wait for another visit.
        self.waiting = 0
        self.outcome: Outcome = DONE
        #: Whether it occupies a download worker.
        self.has_slot = True

    @property
    def is_large(self) -> bool:
        return self.analysis_size >= LARGE

    def fail(self, kind: str, detail: str = "") -> None:
        """Set the outcome, unless an earlier failure did."""
        if self.outcome is DONE:
            self.outcome = failed(kind, detail)


class Visits:
    """
    All visits, each from take() until its request is settled or back in the frontier.

    A worker that holds a datum closes the visit once, when it has finished with the datum; data
    that it has passed on keep the visit open. When the visits are *ending*, one that is
    interrupted has not failed: its request goes back to the frontier.
    """

    def __init__(
        self,
        frontier: FrontierContract,
        limits: Memory,
        downloads: int,
        receiving: Callable[[], int] = int,
    ) -> None:
        self.ending = False
        self.analyses = AnalysisTurns(frontier)
        self._frontier = frontier
        #: The number of data of all visits, and of those whose worker waits for another visit.
        self._data = self._waiting = 0
        #: How many download workers are free, and who waits for one.
        self._free = downloads
        self._takers = Waiters()
        self._room = Event()
        #: Set when a datum is finished, or its worker begins to wait, while the visits are ending.
        self._moved = Event()
        self.memory = MemoryGuard(limits, self._room.set, receiving)

    def take(self) -> Visit:
        """
        Wait for a free download worker, for memory and for a request; begin its visit.

        So a request that is taken is fetched at once: the host sees the delays between requests
        that the frontier decided on.
        """
        while not self._free:
            self._takers.wait()
        self._free -= 1
        try:
            self._wait_for_room()
            visit = Visit(self._frontier.take())
        except BaseException:
            self._free_worker()
            raise
        self._data += 1
        return visit

    def hand(self, visit: Visit, datum: T, pool: Pool[tuple[Visit, T]]) -> None:
        """Put *datum* into *pool*, as soon as there is room for it."""
        visit.open += 1
        self._data += 1
        try:
            pool.put((visit, datum))
        except BaseException:
            visit.open -= 1
            self._data -= 1
            raise

    def end_download(self, visit: Visit) -> None:
        """Free the download worker of *visit*; a second call does nothing."""
        if visit.has_slot:
            visit.has_slot = False
            self._free_worker()

    def close(self, visit: Visit) -> None:
        """Count one datum of *visit* as finished; settle its request if that was the last one."""
        visit.open -= 1
        self._data -= 1
        if self.ending:
            self._moved.set()
        if visit.open:
            return
        self.end_download(visit)
        if not visit.taken.is_over:
            self._frontier.settle(visit.taken, visit.outcome)
        self.memory.held -= visit.size
        self._room.set()

    def end(self, timeout: float) -> None:
        """
        Wait until all visits are over, after no more are begun; *timeout* seconds at most.

        Workers that wait for a request that has not been taken would wait for ever: when all that is
        left waits so, this returns.
        """
        with gevent.Timeout(timeout, False):  # type: ignore[arg-type]  # the stubs do not know False
            gevent.sleep(0)  # a worker that has its answer runs first
            while self._data > self._waiting:
                self._moved.clear()
                self._moved.wait()
                gevent.sleep(0)

    def give_back(self, visit: Visit) -> None:
        """Put the request of *visit* back into the frontier, unless it is settled or back already."""
        if not visit.taken.is_over:
            self._frontier.put_back(visit.taken)

    def give_back_all(self, pool: Pool[tuple[Visit, Any]]) -> None:
        """Give back the requests of all data that wait in *pool*."""
        while len(pool):
            visit, _ = pool.get()
            self.give_back(visit)
            self.close(visit)

    def weigh(self, visit: Visit, size: int) -> None:
        """Count *size* bytes more as held in memory for *visit*, until it ends; or less."""
        if visit.open:
            visit.size += size
            self.memory.held += size
            if size < 0:
                self._room.set()

    @contextmanager
    def waiting(self, visit: Visit) -> Iterator[None]:
        """
        Return a context in which the worker of a datum of *visit* waits for another visit.

        Meanwhile its page does not count as heavy: what it waits for may be of the same domain.
        """
        is_analysis = self.analyses.is_mine(visit.taken)
        self._count_waiting(visit, 1)
        self._room.set()
        if is_analysis:
            self.analyses.leave(visit.taken)
        self._frontier.mark_heavy(visit.taken, is_heavy=False)
        try:
            yield
        finally:
            self._count_waiting(visit, -1)
            if is_analysis:
                is_heavy = visit.is_large and not visit.waiting
                self._frontier.mark_heavy(visit.taken, is_heavy=is_heavy)
                if not self.ending:
                    self.analyses.enter(visit.taken)

    def _count_waiting(self, visit: Visit, number: int) -> None:
        visit.waiting += number
        self._waiting += number
        self.weigh(visit, number * _WAITING)
        if self.ending:
            self._moved.set()

    def _free_worker(self) -> None:
        self._free += 1
        if self._takers.asleep:
            self._takers.wake()

    def _wait_for_room(self) -> None:
        """Wait while memory is short and a datum can still make progress, and so free some."""
        while self.memory.short and self._data > self._waiting:
            self._room.clear()
            self._room.wait()
