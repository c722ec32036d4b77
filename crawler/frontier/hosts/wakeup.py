"""Wakeup: a sleep until a time that can be cut short."""

from __future__ import annotations

from gevent import get_hub
from gevent.event import Event


class Wakeup:
    """Frontier.take() sleeps here; it is woken only by what is due earlier than it waits for."""

    def __init__(self) -> None:
        self._sleeping = 0
        self._until = 0.0
        self._woken = Event()

    def sleep(self, now: float, until: float | None) -> None:
        """Wait *until* a time, or until woken; None means no time limit."""
        self._until = float("inf") if until is None else until
        self._woken.clear()
        self._sleeping += 1
        # A timer that sets the event takes a third of the time that a gevent.Timeout takes.
        timer = None if until is None else get_hub().loop.timer(max(0.0, until - now))
        try:
            if timer is not None:
                timer.start(self._woken.set)
            self._woken.wait()
        finally:
            self._sleeping -= 1
            if timer is not None:
                timer.close()

    def wake_before(self, due: float) -> None:
        """Wake all that would sleep past *due*."""
        if self._sleeping and due < self._until:
            self._woken.set()

    def wake(self) -> None:
        self._woken.set()
