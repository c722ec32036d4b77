"""Visit: a taken request on its way to being settled, and all that are under way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from gevent.event import Event
from gevent.lock import Semaphore

from ..buffer import Pool
from ..frontier import DONE, FrontierContract, Outcome, Taken, failed
from .analysis_turns import AnalysisTurns
from .memory_guard import Memory, MemoryGuard

T = TypeVar("T")


class Visit:
    """
    A taken request on its way to being settled.

    *open* counts its data in pools and in workers' hands: its request, its response,
    each of its items. When the last is gone it ends with *outcome*, unless the frontier has
    the request back by then. *size* is the bytes of its response's body.
    """

    __slots__ = ("has_slot", "open", "outcome", "request", "size", "taken")

    def __init__(self, taken: Taken) -> None:
        self.taken = taken
        self.request = taken.request
        self.open = 1
        self.size = 0
        self.outcome: Outcome = DONE
        #: Whether it occupies a download worker.
        self.has_slot = True

    def fail(self, kind: str) -> None:
        """Remember the first failure."""
        if self.outcome is DONE:
            self.outcome = failed(kind)


class Visits:
    """
    Every visit from take() until its request is settled, or back in the frontier.

    A worker that has a datum in hand closes its visit once, when it has finished with it; what
    was handed on by then keeps the visit open. *quiet* is set while there is no visit. Once
    they are *ending*, a visit that is interrupted has not failed: its request goes back to
    the frontier.
    """

    def __init__(self, frontier: FrontierContract, limits: Memory, downloads: int) -> None:
        self.ending = False
        self.quiet = Event()
        self.quiet.set()
        self.analyses = AnalysisTurns(frontier)
        self._frontier = frontier
        self._number = 0
        #: One for each download worker that is free.
        self._slots = Semaphore(downloads)
        #: How many stand still, because their worker waits for another visit.
        self._still = 0
        self._room = Event()
        self.memory = MemoryGuard(limits, self._room.set)

    def take(self) -> Visit:
        """
        Wait for a free download worker, for memory and for a request; begin its visit.

        A request that is due is then fetched at once: the distances the frontier keeps
        between requests are those the host sees.
        """
        self._slots.acquire()
        try:
            self._wait_for_room()
            visit = Visit(self._frontier.take())
        except BaseException:
            self._slots.release()
            raise
        self._number += 1
        self.quiet.clear()
        return visit

    def hand(self, visit: Visit, datum: T, pool: Pool[tuple[Visit, T]]) -> None:
        """Let *datum* wait in *pool*, once there is room for it."""
        visit.open += 1
        try:
            pool.put((visit, datum))
        except BaseException:
            visit.open -= 1
            raise

    def end_download(self, visit: Visit) -> None:
        """Free the download worker of *visit*; the second time there is nothing to do."""
        if visit.has_slot:
            visit.has_slot = False
            self._slots.release()

    def close(self, visit: Visit) -> None:
        """Count a datum of *visit* as gone; settle its request if that was the last."""
        visit.open -= 1
        if visit.open:
            return
        self.end_download(visit)
        if not visit.taken.is_over:
            self._frontier.settle(visit.taken, visit.outcome)
        self._number -= 1
        self.memory.held -= visit.size
        self._room.set()
        if not self._number:
            self.quiet.set()

    def give_back(self, visit: Visit) -> None:
        """Let the request of *visit* wait again, unless it does already."""
        if not visit.taken.is_over:
            self._frontier.put_back(visit.taken)

    def give_back_all(self, pool: Pool[tuple[Visit, Any]]) -> None:
        """Give back the requests of all that waits in *pool*."""
        while len(pool):
            visit, _ = pool.get()
            self.give_back(visit)
            self.close(visit)

    def weigh(self, visit: Visit, size: int) -> None:
        """Count the bytes of a body as held, until *visit* ends."""
        visit.size = size
        self.memory.held += size

    @contextmanager
    def standing_still(self, visit: Visit) -> Iterator[None]:
        """Let the worker of *visit* wait for another visit meanwhile."""
        self._still += 1
        self._room.set()
        is_analysed = visit.taken in self.analyses
        self.analyses.leave(visit.taken)
        try:
            yield
        finally:
            self._still -= 1
            if is_analysed:
                self.analyses.enter(visit.taken)

    def _wait_for_room(self) -> None:
        """Wait while memory is short, as long as anything moves that may free some."""
        while self.memory.short and self._number > self._still:
            self._room.clear()
            self._room.wait()
