"""UnblockedStream: lines for a pipe or a terminal that may stop reading."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import select
from threading import Lock
from time import monotonic
from typing import Any

from .._words import counted

#: How many bytes wait for a reader; what is written beyond them is dropped.
_MOST_WAITING = 1 << 16
#: Seconds that a pipe is given at the end to take what still waits.
_LAST_WAIT = 1.0


class UnblockedStream(io.RawIOBase):
    """
    Writes to *descriptor* without a wait for its reader.

    What a full pipe, or a terminal that Ctrl-S has stopped, does not take waits in memory, until
    there is too much of it: then all that is written is dropped. A line says how many lines
    were dropped when the reader continues.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._own = _reopened(descriptor)
        self._waiting: deque[bytes] = deque()
        self._dropped = 0
        self._turn = Lock()

    @property
    def is_blocked(self) -> bool:
        """Whether something waits for the reader."""
        with suppress(OSError):
            self._send()
        return bool(self._waiting)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: Any) -> int:
        piece = bytes(text)
        self._send()
        if self._has_room_for(piece):
            self._waiting.append(piece)
            self._send()
        else:
            self._dropped += piece.count(b"\n")
        return len(piece)

    def finish(self) -> None:
        """Send what waits: a terminal is waited for, a pipe that nobody reads only for a second."""
        end = float("inf") if self.isatty() else monotonic() + _LAST_WAIT
        while self.is_blocked and (left := end - monotonic()) > 0:
            select([], [self._descriptor], [], min(left, 1.0))

    def _has_room_for(self, piece: bytes) -> bool:
        if not self._waiting:
            return True
        return not self._dropped and sum(map(len, self._waiting)) + len(piece) <= _MOST_WAITING

    def _send(self) -> None:
        """Send as much as possible; a thread that comes while another one sends leaves it to that."""
        while self._waiting and self._turn.acquire(blocking=False):
            try:
                self._send_until_full()
            except BlockingIOError:
                return
            finally:
                self._turn.release()

    def _send_until_full(self) -> None:
        while self._waiting:
            piece = self._waiting[0]
            try:
                sent = self._write(piece)
            except BlockingIOError:
                raise
            except OSError:
                self._waiting.clear()
                raise
            if sent < len(piece):
                self._waiting[0] = piece[sent:]
                continue
            self._waiting.popleft()
            if self._dropped and not self._waiting:
                self._waiting.append(_notice(self._dropped))
                self._dropped = 0

    def _write(self, piece: bytes) -> int:
        if self._own is None:
            return write_unblocked(self._descriptor, piece)
        return os.write(self._own, piece)


@contextmanager
def unblocked_stderr() -> Iterator[None]:
    """Let what is written to sys.stderr not wait for its reader."""
    before, stream = sys.stderr, UnblockedStream(2)
    sys.stderr = io.TextIOWrapper(stream, before.encoding, before.errors, write_through=True)
    try:
        yield
    finally:
        stream.finish()
        sys.stderr = before


def is_blocked(file: Any) -> bool:
    """Return whether what was written to *file* still waits for its reader."""
    stream = getattr(file, "buffer", None)
    return isinstance(stream, UnblockedStream) and stream.is_blocked


def write_unblocked(descriptor: int, piece: bytes) -> int:
    """Write to a *descriptor* that others use too; raise BlockingIOError if it takes nothing."""
    before = os.get_blocking(descriptor)
    os.set_blocking(descriptor, False)
    try:
        return os.write(descriptor, piece)
    finally:
        os.set_blocking(descriptor, before)


def _reopened(descriptor: int) -> int | None:
    """
    Return a pipe or terminal opened again; None for anything else, or if that is impossible.

    What is set for *descriptor* holds for all processes that share it, such as the shell.
    """
    if not (stat.S_ISFIFO(os.fstat(descriptor).st_mode) or os.isatty(descriptor)):
        return None
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
    with suppress(OSError):
        return os.open(f"/proc/self/fd/{descriptor}", flags)
    return None


def _notice(lines: int) -> bytes:
    dropped = counted(lines, "line", "was")
    return f"crawler: {dropped} dropped here, because nobody was reading\n".encode()
