"""Pool: a blocking channel that grows and shrinks by whole buffers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from queue import Empty, Full
from time import monotonic
from typing import Generic, NoReturn, TypeVar

from gevent.lock import Semaphore

from ..errors import PoolClosed
from .buffer import Buffer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """What a pool held at one moment."""

    buffer_cap: int
    max_buffer_number: int
    buffer_number: int
    total: int


class Pool(Generic[T]):
    """
    A first-in, first-out channel between greenlets, made of 1 to *max_buffers* buffers.

    A buffer is added when all are full. One that has stood empty for *linger* seconds
    is given back, so that a pool whose load comes in waves does not flap. The two
    semaphores count free places and waiting data; they are the only places to block,
    and greenlets switch nowhere else, so the buffers need no lock.
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
        #: Buffers that can take a datum; the last is filled first, so the others run empty.
        self._roomy = [first]
        #: For each datum, oldest first, the buffer it is in.
        self._order: deque[Buffer[T]] = deque()
        self._room = Semaphore(buffer_capacity * max_buffers)
        self._data = Semaphore(0)

    def put(self, datum: T, timeout: float | None = None) -> None:
        """Add *datum*, waiting for room; raise queue.Full after *timeout* seconds."""
        if datum is None:
            raise ValueError("None is not a datum")
        acquired = self._room.acquire(True, timeout)
        if self.closed:
            self._refuse(self._room)
        if not acquired:
            raise Full
        if not self._roomy:
            self._grow()
        buffer = self._roomy[-1]
        buffer.put(datum)
        self._order.append(buffer)
        if buffer.size == self.buffer_capacity:
            self._roomy.pop()
        self._data.release()

    def get(self, timeout: float | None = None) -> T:
        """Remove and return the oldest datum, waiting for one; raise queue.Empty after *timeout*."""
        acquired = self._data.acquire(True, timeout)
        if self.closed:
            self._refuse(self._data)
        if not acquired:
            raise Empty
        datum = self._pick()
        self._room.release()
        return datum

    def push(self, datum: T) -> bool:
        """Add *datum* without ever waiting: a full pool loses its oldest. Say if it did."""
        full = len(self._order) == self.buffer_capacity * self.max_buffers
        if full and not self.closed:
            self.get()
        self.put(datum)
        return full

    def close(self) -> list[T]:
        """Wake every waiter with PoolClosed; return what was left, oldest first."""
        self.closed = True
        left = [self._pick() for _ in range(len(self._order))]
        for buffer in self._buffers:
            buffer.close()
        self._room.release()
        self._data.release()
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

    def _refuse(self, semaphore: Semaphore) -> NoReturn:
        semaphore.release()  # pass the wake-up on to the next waiter
        raise PoolClosed("the pool is closed")

    def _pick(self) -> T:
        buffer = self._order.popleft()
        if buffer.size == self.buffer_capacity:
            self._roomy.append(buffer)
        datum = buffer.get()
        if not buffer.size and len(self._buffers) > 1:
            buffer.emptied_at = monotonic()
            self._trim()
        return datum

    def _grow(self) -> None:
        buffer = Buffer[T](self.buffer_capacity)
        self._buffers.append(buffer)
        self._roomy.append(buffer)

    def _trim(self) -> None:
        """Give back the buffers that have stood empty long enough, but never the last one."""
        due = monotonic() - self.linger
        while len(self._buffers) > 1:
            idle = self._roomy[0] if self._roomy else None
            if idle is None or idle or idle.emptied_at > due:
                return
            self._buffers.remove(idle)
            self._roomy.remove(idle)
