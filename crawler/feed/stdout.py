"""Stdout: JSON Lines for the next program in a pipe."""

from __future__ import annotations

import os
import select
import stat
from fcntl import F_GETFL, fcntl
from pathlib import Path
from typing import Any

from gevent.lock import RLock
from gevent.socket import wait_write

from .output import Feed, FeedError, OutputClosed
from .record import to_json


class Stdout(Feed):
    """
    A line of JSON for each record on standard output (or another *fd*).

    A slow reader delays only the greenlets that write: they wait on the hub until the pipe has
    room. When the reader has closed the pipe, a call raises OutputClosed, and close() does not.
    What was sent cannot be taken back, so there are no positions: it is always 0.
    """

    def __init__(self, fd: int = 1) -> None:
        _check_writable(fd)
        super().__init__("-")
        self._fd = fd
        self._waits = not stat.S_ISREG(os.fstat(fd).st_mode)
        self._turn = RLock()
        self._rest = b""
        self._gone = False

    @classmethod
    def check(cls, path: str | os.PathLike[str] = "-") -> Path:
        _check_writable(1)
        return super().check(path)

    def flush(self) -> None:
        if not self._gone:
            with self._turn:
                self._send()

    def position(self) -> int:
        self.flush()
        return 0

    def rewind(self, position: int) -> None:
        """Do nothing: what was sent cannot be taken back."""

    def _write(self, record: dict[str, Any]) -> None:
        line = to_json(record).encode() + b"\n"
        with self._turn:
            # The program may have put another file in the place of the descriptor since.
            if self._gone:
                raise _closed()
            self._rest += line
            self._send()

    def _send(self) -> None:
        """Write what is left; if the greenlet is killed here, the next call continues there."""
        while self._rest:
            if self._waits:
                wait_write(self._fd)
            # A ready pipe takes this much at once; more might block the hub.
            piece = self._rest[: select.PIPE_BUF] if self._waits else self._rest
            try:
                sent = os.write(self._fd, piece)
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self._rest, self._gone = b"", True
                raise _closed() from None
            self._rest = self._rest[sent:]

    def _release(self) -> None:
        """Leave the descriptor open: it belongs to the process."""


def _check_writable(fd: int) -> None:
    try:
        is_writable = fcntl(fd, F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        is_writable = False
    if not is_writable:
        raise FeedError("standard output is closed: name a file for the records, such as x.jsonl")


def _closed() -> OutputClosed:
    return OutputClosed("the reader of standard output has closed it")
