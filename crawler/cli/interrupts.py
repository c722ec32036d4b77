"""Interrupts: Ctrl-C once ends a crawl, twice drops what is in flight."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any, Self

from gevent.event import Event

#: The exit code of a command that was ended at once, as a shell would have it.
AT_ONCE = 130
#: Seconds the second one gives, before it ends the process whatever it is doing.
_PATIENCE = 3.0
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupts:
    """
    Hears SIGINT and SIGTERM: *first* and *second* are set when they come.

    The handlers are the interpreter's own: they run even while a callback does not let go
    of the CPU, so that a third one, or a while after the second, ends the process in any case.
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

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self.first.is_set():
            self.first.set()
        elif not self.second.is_set():
            self.second.set()
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
        else:
            _exit(number, frame)


def _exit(_number: int, _frame: FrameType | None) -> None:
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    os._exit(AT_ONCE)
