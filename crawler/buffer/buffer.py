"""Buffer: a bounded FIFO that never blocks."""

from __future__ import annotations

from collections import deque
from queue import Empty, Full
from typing import Generic, TypeVar

from ..errors import BufferClosed

T = TypeVar("T")


class Buffer(Generic[T]):
    """Holds up to *capacity* data; what is inside a closed one can still be taken out."""

    __slots__ = ("_data", "capacity", "closed", "emptied_at", "size")

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a buffer's capacity must be at least 1, not {capacity!r}")
        self.capacity = capacity
        self.closed = False
        #: How many data are inside; what asks for every datum asks here, not len().
        self.size = 0
        #: When the last datum left, by the owner's clock.
        self.emptied_at = 0.0
        self._data: deque[T] = deque()

    def put(self, datum: T) -> None:
        """Add *datum*; raise queue.Full if there is no room."""
        if self.closed:
            raise BufferClosed("cannot put into a closed buffer")
        if datum is None:
            raise ValueError("None is not a datum")
        if self.size >= self.capacity:
            raise Full
        self._data.append(datum)
        self.size += 1

    def get(self) -> T:
        """Remove and return the oldest datum; raise queue.Empty if there is none."""
        if self.size:
            self.size -= 1
            return self._data.popleft()
        raise BufferClosed("the closed buffer has nothing left") if self.closed else Empty

    def close(self) -> None:
        self.closed = True

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<Buffer {state}, {len(self)}/{self.capacity} data>"
