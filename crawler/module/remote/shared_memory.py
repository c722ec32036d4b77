"""Shared memory: where a page is at once, however busy the process that is to read it."""

from __future__ import annotations

import os
import tempfile
from mmap import mmap

#: Bytes of a slot: a larger body goes over the line.
_SIZE = 2 << 20


class Slots:
    """
    Places in memory that two processes share, one for each page in hand.

    A line takes no more than the kernel buffers; a page that waits here costs its reader no
    wait, and both sides one copy. Memory that is not used is not there.
    """

    def __init__(self, number: int) -> None:
        self.descriptor = _descriptor()
        os.ftruncate(self.descriptor, number * _SIZE)
        self._memory = mmap(self.descriptor, number * _SIZE)
        self._free = [slot * _SIZE for slot in range(number)]

    def put(self, body: bytes) -> int | None:
        """Put *body* into a free slot and return where; None if it does not fit."""
        if not body or len(body) > _SIZE or not self._free:
            return None
        place = self._free.pop()
        self._memory[place : place + len(body)] = body
        return place

    def free(self, place: int) -> None:
        self._free.append(place)

    def close(self) -> None:
        self._memory.close()


def _descriptor() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("crawler")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
