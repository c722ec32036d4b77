"""Wakeup: waits for a time, and for an earlier one to turn up."""

from __future__ import annotations

from gevent.event import Event


class Wakeup:
    """Whoever takes from the frontier sleeps here; only what is due earlier wakes it."""

    def __init__(self) -> None:
        self._sleepers = 0
        self._until = 0.0
        self._woken = Event()

    def sleep(self, now: float, until: float | None) -> None:
        """Wait *until* a time, None for as long as it takes; or until woken."""
        self._until = float("inf") if until is None else until
        self._woken.clear()
        self._sleepers += 1
        try:
            self._woken.wait(None if until is None else max(0.0, until - now))
        finally:
            self._sleepers -= 1

    def wake_before(self, due: float) -> None:
        """Wake whoever would sleep past *due*."""
        if self._sleepers and due < self._until:
            self._woken.set()

    def wake(self) -> None:
        self._woken.set()
