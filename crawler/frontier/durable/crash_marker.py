"""CrashMarker: two numbers that outlive the process at no cost."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

_PAIR = struct.Struct("<QQ")
_ALL_ONES = 2**64 - 1


class CrashMarker:
    """
    How many commits there were, and which row was being analysed, in a mapped file.

    What is written to a mapped file is with the operating system at once, without a call:
    it survives the process, whatever ends that, though not a loss of power. Each number
    is kept beside its complement; None stands for one that is damaged.
    """

    def __init__(self, path: Path) -> None:
        size = 2 * _PAIR.size
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.fstat(descriptor).st_size < size:
                os.pwrite(descriptor, (_packed(0) * 2)[:size], 0)
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)

    @property
    def commits(self) -> int | None:
        return _unpacked(self._map, 0)

    @commits.setter
    def commits(self, number: int) -> None:
        self._map[: _PAIR.size] = _packed(number)

    @property
    def running(self) -> int | None:
        return _unpacked(self._map, _PAIR.size)

    @running.setter
    def running(self, row: int) -> None:
        self._map[_PAIR.size :] = _packed(row)

    def close(self) -> None:
        self._map.close()


def _packed(number: int) -> bytes:
    return _PAIR.pack(number, number ^ _ALL_ONES)


def _unpacked(content: mmap.mmap, offset: int) -> int | None:
    number, complement = _PAIR.unpack_from(content, offset)
    return number if number ^ complement == _ALL_ONES else None
