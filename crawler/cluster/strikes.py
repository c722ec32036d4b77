"""Strikes: pages during whose analysis schedulers died or were stuck; the third time they are set aside."""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import mmh3

from ..data import Request
from ..frontier.durable.crash_marker import STUCK, CrashMarker
from ..frontier.durable.reopening import MOST_STRIKES, STRIKES

log = logging.getLogger(__name__)

_ENDING = ".marks"
#: The bits of a mark that stand for the page; those above them are its shard.
_BITS = 52


class Strike(NamedTuple):
    """A page, by its *mark*, that was under analysis when a scheduler ended: alone, or with others."""

    mark: int
    is_alone: bool

    @property
    def shard(self) -> int:
        return (self.mark >> _BITS) - 1


def mark_of(shard: int, request: Request) -> int:
    """Return what stands for a page of *shard*, also before it has a number that Redis knows."""
    url = request.redirects[0] if request.redirects else request.url
    return (shard + 1) << _BITS | mmh3.hash64(url, signed=False)[0] % (1 << _BITS)


class Strikes:
    """
    How often the analysis of each page of a shard has ended a process, by its mark.

    A page is set aside after STRIKES, if it was the only page under analysis the last time, so that
    it is known to be the cause; else after MOST_STRIKES, and so are those that are known.
    """

    def __init__(self, numbers: dict[int, int]) -> None:
        self.numbers = numbers

    def add(self, mark: int, *, is_alone: bool) -> int:
        """Count one strike more; return the number of them."""
        strikes = self.numbers.get(mark, 0) + 1
        if is_alone and strikes >= STRIKES:
            strikes = MOST_STRIKES
        self.numbers[mark] = strikes
        return strikes

    def __contains__(self, mark: int) -> bool:
        return mark in self.numbers

    def is_out(self, mark: int) -> bool:
        return self.numbers.get(mark, 0) >= MOST_STRIKES


class ShardMarks:
    """Implements Marks: the pages of one *shard* that are under analysis, also marked in *outside*."""

    def __init__(self, shard: int, outside: CrashMarker | None = None) -> None:
        self.marks: set[int] = set()
        self._shard = shard
        self._outside = outside

    def begin(self, request: Request) -> None:
        mark = mark_of(self._shard, request)
        self.marks.add(mark)
        if self._outside is not None:
            self._outside.mark(mark)

    def end(self, request: Request) -> None:
        mark = mark_of(self._shard, request)
        self.marks.discard(mark)
        if self._outside is not None:
            self._outside.clear(mark)


class MarkFile:
    """
    The pages that this process analyses, in a file of *folder* that outlives it.

    The process holds a lock on its file. A file without one is that of a process that has died.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / f"{os.getpid()}-{secrets.token_hex(4)}{_ENDING}"
        new = self.path.with_suffix(".new")
        self.marker = CrashMarker(new)
        self._lock = os.open(new, os.O_RDWR)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new.rename(self.path)

    def end_process(self, mark: int) -> None:
        """Count it against a page that its analysis never ends, and end the process; a thread calls this."""
        self.marker.blame(mark)
        log.critical("a callback never ends: the process ends; run the same command to continue")
        os._exit(STUCK)

    def close(self) -> None:
        """Leave nothing behind: the process ends as it should."""
        self.path.unlink(missing_ok=True)
        self.marker.close()
        os.close(self._lock)


def strikes_of_the_dead(folder: Path) -> Iterator[list[Strike]]:
    """Yield what processes that have died were analysing; their files are then removed."""
    for path in folder.glob(f"*{_ENDING}"):
        with suppress(OSError):  # it is that of a living process, or another was quicker
            lock = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                rows = _rows(path)
                yield [Strike(row, len(rows) == 1) for row in rows]
                path.unlink()
            finally:
                os.close(lock)


def _rows(path: Path) -> list[int]:
    marker = CrashMarker(path)
    try:
        return marker.rows
    finally:
        marker.close()
