"""CrashMarker: what the process was doing, written so that it outlives the process at no cost."""

from __future__ import annotations

import logging
import mmap
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...data import Request
from .rows import number_of

log = logging.getLogger(__name__)

#: The exit code of a process that a callback would not let continue.
STUCK = 7

_PAIR = struct.Struct("<QQ")
_SIZE = _PAIR.size
_ALL_ONES = 2**64 - 1
#: An entry that counts as damaged.
_UNKNOWN = bytes(_SIZE)
#: How many rows there is room for at first.
_SLOTS = 64


class CrashMarker:
    """
    How many commits there were, and which rows are under analysis, in a mapped file.

    What is written to a mapped file is with the operating system at once, without a call:
    it survives the process, whatever ends that, though not a loss of power. Each number is
    written beside its complement, by which a damaged one is recognized.
    """

    def __init__(self, path: Path, *, replaces_lost: bool = False) -> None:
        """Open *path* or make it; if it *replaces_lost* marks, the number of commits is unknown."""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            size = os.fstat(self._descriptor).st_size
            if size < _SIZE:
                os.pwrite(self._descriptor, _UNKNOWN if replaces_lost else _packed(0), 0)
            self._map_slots(max(_SLOTS, size // _SIZE - 1))
        except BaseException:
            os.close(self._descriptor)
            raise
        #: By row, the slot it is written in.
        self._used: dict[int, int] = {}

    @property
    def commits(self) -> int | None:
        """How many commits there were; None if the number is damaged."""
        return _unpacked(self._map, 0)

    @commits.setter
    def commits(self, number: int) -> None:
        self._map[:_SIZE] = _packed(number)

    @property
    def rows(self) -> list[int]:
        """The rows that are marked; damaged entries are left out."""
        slots = range(1, len(self._map) // _SIZE)
        return [row for slot in slots if (row := _unpacked(self._map, slot))]

    def mark(self, row: int) -> None:
        """Mark *row*; on a full disk there may be room for some rows only."""
        if not self._free:
            self._map_slots(2 * len(self._used) + 1)
        if not self._free:
            return
        slot = self._free.pop()
        self._used[row] = slot
        self._map[slot * _SIZE : (slot + 1) * _SIZE] = _packed(row)

    def clear(self, row: int) -> None:
        """Remove the mark of *row*, if it has one."""
        slot = self._used.pop(row, None)
        if slot is not None:
            self._map[slot * _SIZE : (slot + 1) * _SIZE] = _packed(0)
            self._free.append(slot)

    def clear_all(self) -> None:
        self._map[_SIZE:] = _packed(0) * (len(self._map) // _SIZE - 1)
        self._used.clear()
        self._free = list(range(len(self._map) // _SIZE - 1, 0, -1))

    def blame(self, row: int) -> None:
        """Mark *row* alone: it is known to be the one. Any thread may call this."""
        self._map[_SIZE:] = _packed(row) + _packed(0) * (len(self._map) // _SIZE - 2)

    def close(self) -> None:
        self._map.close()
        os.close(self._descriptor)

    def _map_slots(self, number: int) -> None:
        """Map the file with room for *number* rows, if the disk has it; marks stay where they are."""
        size = _grown(self._descriptor, (number + 1) * _SIZE)
        self._map = mmap.mmap(self._descriptor, size)
        slots = range(size // _SIZE - 1, 0, -1)
        self._free = [slot for slot in slots if not _unpacked(self._map, slot)]


class AnalysisMarks:
    """Marks the requests under analysis, for the case that the process dies of one."""

    def __init__(self, marker: CrashMarker, commit: Callable[[], None] = lambda: None) -> None:
        self._marker = marker
        self._commit = commit
        #: How many more requests are committed before their analysis: a mark without a row cannot be
        #: counted, and a page that ends each process before its first commit would do so for ever.
        self.commit_first = 0

    def begin(self, request: Request) -> None:
        if self.commit_first:
            self.commit_first -= 1
            self._commit()
        self._marker.mark(number_of(request))

    def end(self, request: Request) -> None:
        self._marker.clear(number_of(request))

    def end_process(self, request: Request) -> None:
        """
        Count it against *request* that its analysis never ends, and end the process.

        A thread calls this: the hub's is the one that is stuck. What is committed is safe, and
        the next process sets the page aside if it has ended others too.
        """
        self._marker.blame(number_of(request))
        log.critical("%s never ends: the process ends; run the same command to continue", request)
        os._exit(STUCK)


def _grown(descriptor: int, size: int) -> int:
    """Let a file have *size* bytes, all entries zero; return how many it has in the end."""
    before = os.fstat(descriptor).st_size // _SIZE * _SIZE
    if before < size:
        with suppress(OSError):
            os.pwrite(descriptor, _packed(0) * ((size - before) // _SIZE), before)
    return max(_SIZE, os.fstat(descriptor).st_size // _SIZE * _SIZE)


def _packed(number: int) -> bytes:
    return _PAIR.pack(number, number ^ _ALL_ONES)


def _unpacked(content: mmap.mmap, slot: int) -> int | None:
    number: int
    number, complement = _PAIR.unpack_from(content, slot * _SIZE)
    return number if number ^ complement == _ALL_ONES else None
