"""Buffer: a bounded FIFO that never blocks."""

from __future__ import annotations

from collections import deque
from queue import Empty, Full
from typing import Generic, TypeVar

from ..errors import BufferClosed

T = TypeVar("T")


class Buffer(Generic[T]):
    """Holds up to *capacity* data; the data of a closed buffer can still be taken out."""

    __slots__ = ("capacity", "closed", "data", "emptied_at")

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a buffer's capacity must be at least 1, not {capacity!r}")
        self.capacity = capacity
        self.closed = False
        #: Oldest first. A pool appends and removes data here directly, after its own checks.
        self.data: deque[T] = deque()
        #: The time at which the buffer became empty, by the owner's clock.
        self.emptied_at = 0.0

    def put(self, datum: T) -> None:
        """Add *datum*; raise queue.Full if the buffer is full."""
        if self.closed:
            raise BufferClosed("cannot put into a closed buffer")
        if datum is None:
            raise ValueError("None is not a datum")
        if len(self.data) >= self.capacity:
            raise Full
        self.data.append(datum)

    def get(self) -> T:
        """Remove and return the oldest datum; raise queue.Empty if the buffer is empty."""
        if self.data:
            return self.data.popleft()
        raise BufferClosed("the closed buffer is empty") if self.closed else Empty

    def close(self) -> None:
        self.closed = True

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<Buffer {state}, {len(self)}/{self.capacity} data>"
