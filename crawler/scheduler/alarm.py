"""Alarm: how long user code may take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gevent

from ..errors import TimeLimit


class Alarm:
    """Throws TimeLimit into the greenlet that entered it, if it stays in too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        # It rings again and again: a bare `except:` in user code does not get away with it.
        self._timer = gevent.get_hub().loop.timer(seconds, seconds)

    def __enter__(self) -> None:
        # again(), not start(): a timer that is started again only has the rest of its time.
        self._timer.again(gevent.getcurrent().throw, TimeLimit(self._seconds))

    def __exit__(self, *exc_info: object) -> None:
        self._timer.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let time pass that is not the module's own; it starts anew afterwards."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def close(self) -> None:
        self._timer.close()
