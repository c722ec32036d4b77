"""Interrupts: Ctrl-C once ends a crawl, twice drops what is in flight."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any, Self

from gevent.event import Event

#: The exit code of a command that was ended at once, as a shell would have it.
AT_ONCE = 130
#: Seconds each one gives to be heard, before it ends the process whatever it is doing.
_PATIENCE = 3.0
_DEAF = b"crawler: the crawl does not answer, as if a callback did not let go of the CPU: ended\n"
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupts:
    """
    Hears SIGINT and SIGTERM: *first* and *second* are set when they come.

    The handlers are the interpreter's own: they run even while a callback does not let go
    of the CPU. Whoever waits for *first* says so by heard(); if nobody does, for nobody can, the
    process is ended. So do a third one, and a while after the second, in any case.
    """

    def __init__(self) -> None:
        self.first, self.second = Event(), Event()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number, handler in (
            (signal.SIGINT, self._hear),
            (signal.SIGTERM, self._hear),
            (signal.SIGALRM, _exit),
        ):
            self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *exc_info: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def heard(self) -> None:
        """Say that something is being done about the first one."""
        if not self.second.is_set():
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self.first.is_set():
            self.first.set()
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
        elif not self.second.is_set():
            self.second.set()
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
        else:
            _exit(number, frame)


def _exit(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGALRM:
        os.write(2, _DEAF)
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    os._exit(AT_ONCE)
