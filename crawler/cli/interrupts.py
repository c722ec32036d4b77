"""Interrupts: the first Ctrl-C stops a crawl, the second drops the requests in flight."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType
from typing import Any, Self

from gevent.event import Event

from .unblocked_stream import write_unblocked

#: The exit code after the second Ctrl-C, as shells use it.
EXIT_CODE = 130
#: Seconds after which an interrupt ends the process if the crawl has not reacted to it.
_PATIENCE = 3.0
_NO_REACTION = (
    b"crawler: the crawl does not react; a callback may be using the CPU without a pause: ended\n"
)
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupts:
    """
    Handles SIGINT and SIGTERM: the first signal sets *first*, the second sets *second*.

    The handlers are the interpreter's own, so they run even while a callback does not yield. The
    code that waits for *first* calls acknowledge(). Without that call the process ends after 3
    seconds; it always ends 3 seconds after the second signal, and at the third one.
    """

    def __init__(self) -> None:
        self.first, self.second = Event(), Event()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number, handler in (
            (signal.SIGINT, self._handle),
            (signal.SIGTERM, self._handle),
            (signal.SIGALRM, _exit),
        ):
            self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *exc_info: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def acknowledge(self) -> None:
        """Mark that the crawl reacts to the first signal, so that it does not end the process."""
        if not self.second.is_set():
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.first.is_set():
            self.first.set()
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
        elif not self.second.is_set():
            self.second.set()
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
        else:
            _exit(number, frame)


def _exit(number: int, _frame: FrameType | None) -> None:
    text = _NO_REACTION if number == signal.SIGALRM else b""
    with suppress(OSError):  # nobody reads it
        write_unblocked(2, text + (_SHOW_CURSOR if os.isatty(2) else b""))
    os._exit(EXIT_CODE)
