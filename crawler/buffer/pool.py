"""Pool: a blocking channel that grows and shrinks by whole buffers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, Full
from time import monotonic
from typing import Generic, TypeVar

from .._waiters import Waiters
from ..errors import PoolClosed
from .buffer import Buffer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """The size of a pool at one moment."""

    buffer_cap: int
    max_buffer_number: int
    buffer_number: int
    total: int


class Pool(Generic[T]):
    """
    A first-in, first-out channel between greenlets, made of 1 to *max_buffers* buffers.

    A buffer is added when all are full, and removed after it has been empty for *linger*
    seconds, so that a load in waves does not add and remove buffers all the time. Greenlets
    switch only where they wait for room or for a datum, so the buffers need no lock.
    """

    def __init__(self, buffer_capacity: int, max_buffers: int, *, linger: float = 1.0) -> None:
        if max_buffers < 1:
            raise ValueError(f"a pool needs at least 1 buffer, not {max_buffers!r}")
        first = Buffer[T](buffer_capacity)
        self.buffer_capacity = buffer_capacity
        self.max_buffers = max_buffers
        self.linger = linger
        self.closed = False
        self._buffers = [first]
        #: Buffers that are not full; the last one is filled first, so the others become empty.
        self._roomy = [first]
        #: The buffer of each datum, oldest datum first.
        self._order: deque[Buffer[T]] = deque()
        #: The maximum number of data; 0 once the pool is closed.
        self._places = buffer_capacity * max_buffers
        self._putters = Waiters()
        self._getters = Waiters()

    def put(self, datum: T, timeout: float | None = None) -> None:
        """Add *datum*, waiting for room; raise queue.Full after *timeout* seconds."""
        if datum is None:
            raise ValueError("None is not a datum")
        if len(self._order) >= self._places:
            self._wait(self._putters, lambda: len(self._order) < self._places, Full, timeout)
        if not self._roomy:
            self._grow()
        buffer = self._roomy[-1]
        data = buffer.data
        data.append(datum)
        self._order.append(buffer)
        if len(data) == self.buffer_capacity:
            self._roomy.pop()
        if self._getters.asleep:
            self._getters.wake()

    def get(self, timeout: float | None = None) -> T:
        """Remove and return the oldest datum, waiting for one; raise queue.Empty after *timeout* s."""
        if not self._order:
            self._wait(self._getters, lambda: bool(self._order), Empty, timeout)
        buffer = self._order.popleft()
        data = buffer.data
        if len(data) == self.buffer_capacity:
            self._roomy.append(buffer)
        datum = data.popleft()
        if not data and len(self._buffers) > 1:
            buffer.emptied_at = monotonic()
            self._trim()
        if self._putters.asleep:
            self._putters.wake()
        return datum

    def push(self, datum: T) -> bool:
        """Add *datum* without waiting; return whether the pool was full and lost its oldest datum."""
        full = len(self._order) == self._places
        if full and not self.closed:
            self.get()
        self.put(datum)
        return full

    def close(self) -> list[T]:
        """Wake every waiter with PoolClosed; return the remaining data, oldest first."""
        self.closed = True
        self._places = 0
        left = [self._order.popleft().get() for _ in range(len(self._order))]
        for buffer in self._buffers:
            buffer.close()
        self._putters.wake_all()
        self._getters.wake_all()
        return left

    @property
    def buffer_number(self) -> int:
        self._trim()
        return len(self._buffers)

    def figures(self) -> PoolFigures:
        return PoolFigures(self.buffer_capacity, self.max_buffers, self.buffer_number, len(self))

    def __len__(self) -> int:
        return len(self._order)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        buffers = f"{self.buffer_number}/{self.max_buffers} buffers"
        return f"<Pool {state}, {len(self)} data in {buffers}>"

    def _wait(
        self,
        waiters: Waiters,
        is_ready: Callable[[], bool],
        expired: type[Exception],
        timeout: float | None,
    ) -> None:
        """Wait until *is_ready*; raise *expired* after *timeout* seconds, PoolClosed when closed."""
        due = None if timeout is None else monotonic() + timeout
        in_time = True
        while not self.closed and not is_ready():
            if not in_time:
                raise expired
            in_time = waiters.wait(None if due is None else max(0.0, due - monotonic()))
        if self.closed:
            raise PoolClosed("the pool is closed")

    def _grow(self) -> None:
        buffer = Buffer[T](self.buffer_capacity)
        self._buffers.append(buffer)
        self._roomy.append(buffer)

    def _trim(self) -> None:
        """Remove the buffers that have been empty for *linger* seconds, but never the last one."""
        due = monotonic() - self.linger
        while len(self._buffers) > 1:
            idle = self._roomy[0] if self._roomy else None
            if idle is None or idle or idle.emptied_at > due:
                return
            self._buffers.remove(idle)
            self._roomy.remove(idle)
