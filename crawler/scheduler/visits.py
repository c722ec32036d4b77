"""Visit: a taken request on its way to being settled, and all that are under way."""

from __future__ import annotations

from typing import Any, TypeVar

from gevent.event import Event

from ..buffer import Pool
from ..data import Request
from ..frontier import DONE, Frontier, Outcome, failed
from .memory_guard import Memory, MemoryGuard

T = TypeVar("T")


class Visit:
    """
    A taken request on its way to being settled.

    *open* counts its data in pools and in workers' hands: its request, its response,
    each of its items. When the last is gone it ends with *outcome*; None means that the
    request went back to the frontier. *size* is the bytes of its response's body.
    """

    __slots__ = ("open", "outcome", "request", "size")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.open = 0
        self.size = 0
        self.outcome: Outcome | None = DONE

    def fail(self, kind: str) -> None:
        """Remember the first failure."""
        if self.outcome is DONE:
            self.outcome = failed(kind)


class Visits:
    """
    Every visit from take() until its request is settled, or back in the frontier.

    Whoever has a datum in hand closes its visit once, when done with it; what is handed on
    by then keeps it open. It is *quiet* while there is no visit. Once they are *ending*, a
    visit that is interrupted has not failed: its request goes back to the frontier.
    """

    def __init__(self, frontier: Frontier, limits: Memory) -> None:
        self.ending = False
        self.quiet = Event()
        self.quiet.set()
        self._frontier = frontier
        self._number = 0
        #: How many stand still, for their worker waits for another visit.
        self._still = 0
        self._room = Event()
        self.memory = MemoryGuard(limits, self._room.set)

    def open(self, request: Request) -> Visit:
        """Begin the visit of a taken *request*, which the caller has in hand."""
        visit = Visit(request)
        visit.open = 1
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

    def close(self, visit: Visit) -> None:
        """Be told that a datum of *visit* is gone; settle its request if it was the last."""
        visit.open -= 1
        if visit.open:
            return
        if visit.outcome is not None:
            self._frontier.settle(visit.request, visit.outcome)
            visit.outcome = None
        self._number -= 1
        self.memory.held -= visit.size
        self._room.set()
        if not self._number:
            self.quiet.set()

    def give_back(self, visit: Visit) -> None:
        """Let the request of *visit* wait again, unless that has been done."""
        if visit.outcome is not None:
            visit.outcome = None
            self._frontier.put_back(visit.request)

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

    def stand_still(self) -> None:
        """Be told that a worker waits for another visit: go_on() must follow."""
        self._still += 1
        self._room.set()

    def go_on(self) -> None:
        self._still -= 1

    def wait_for_room(self) -> None:
        """Wait while memory is short, as long as anything moves that may leave some."""
        while self.memory.short and self._number > self._still:
            self._room.clear()
            self._room.wait()
