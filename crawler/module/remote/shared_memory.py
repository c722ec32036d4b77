"""Shared memory: a body is there at once, however busy the process that will read it is."""

from __future__ import annotations

import os
import tempfile
from mmap import mmap

#: Bytes of a slot: a larger body goes over the socket.
_SIZE = 2 << 20


class Slots:
    """
    Slots in memory that two processes share, one for each call in flight.

    A socket takes no more than the kernel buffers. A body in a slot costs its reader no wait,
    and each side one copy. The kernel allocates only the memory that is used.
    """

    def __init__(self, number: int) -> None:
        self.descriptor = _descriptor()
        os.ftruncate(self.descriptor, number * _SIZE)
        self._memory = mmap(self.descriptor, number * _SIZE)
        self._free = [slot * _SIZE for slot in range(number)]

    def put(self, body: bytes) -> int | None:
        """Copy *body* into a free slot and return its offset; None if no slot can hold it."""
        if not body or len(body) > _SIZE or not self._free:
            return None
        offset = self._free.pop()
        self._memory[offset : offset + len(body)] = body
        return offset

    def free(self, offset: int) -> None:
        self._free.append(offset)

    def close(self) -> None:
        self._memory.close()


def _descriptor() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("crawler")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
