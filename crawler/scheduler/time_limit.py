"""ModuleTimer: limits the time that a module works on one datum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import gevent

from ..errors import TimeLimit

#: The number of times that TimeLimit is thrown into code that catches it and continues.
_MAX_THROWN = 3
#: If the end of a limit is so many seconds late, the hub did not run in the meantime.
_LATE = 0.25


class LeftBehind(BaseException):
    """Ends the work of a greenlet that was given up: another greenlet ends its visit."""


class ModuleTimer:
    """
    Throws TimeLimit into the greenlet that entered it, if it stays inside too long.

    Code that catches it and continues, as a bare ``except:`` does, gets it again each time the
    limit has passed. After three times the greenlet is *given_up* and *on_given_up* is called;
    then both leaving the timer and check() raise LeftBehind.

    A limit that passes while a callback keeps the hub from running starts anew, once: those
    who waited meanwhile, such as downloads, could not go on.
    """

    def __init__(self, seconds: float, on_given_up: Callable[[], object] = bool) -> None:
        self.given_up = False
        self._seconds = seconds
        self._on_given_up = on_given_up
        self._thrown = 0
        self._due = 0.0
        self._timer = gevent.get_hub().loop.timer(seconds, seconds)

    def __enter__(self) -> None:
        self._thrown = 0
        self._due = monotonic() + self._seconds
        # again(), not start(): start() would continue with the rest of the time.
        self._timer.again(self._expire, gevent.getcurrent())

    def __exit__(self, *exc_info: object) -> None:
        self._timer.stop()
        self.check()

    def check(self) -> None:
        if self.given_up:
            raise LeftBehind

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time inside as time of the module; the limit starts anew afterwards."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def close(self) -> None:
        self._timer.close()

    def _expire(self, greenlet: Any) -> None:
        """Run by the hub, each time the limit has passed."""
        late, self._due = monotonic() - self._due, float("inf")
        if late > _LATE:
            self._timer.again(self._expire, greenlet)
            return
        if self._thrown == _MAX_THROWN:
            self._timer.stop()
            self.given_up = True
            self._on_given_up()
        else:
            self._thrown += 1
            greenlet.throw(TimeLimit(self._seconds))
