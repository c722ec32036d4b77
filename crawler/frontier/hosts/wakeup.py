"""Wakeup: a sleep until a time that can be cut short."""

from __future__ import annotations

from ..._waiters import Waiters


class Wakeup:
    """Frontier.take() sleeps here; it is woken only by what is due earlier than it waits for."""

    def __init__(self) -> None:
        self._waiters = Waiters()
        self._until = 0.0

    def sleep(self, now: float, until: float | None) -> None:
        """Wait *until* a time, or until woken; None means no time limit."""
        self._until = float("inf") if until is None else until
        self._waiters.wait(None if until is None else until - now)

    def wake_before(self, due: float) -> None:
        """Wake all that would sleep past *due*."""
        if self._waiters.asleep and due < self._until:
            self._waiters.wake_all()

    def wake(self) -> None:
        self._waiters.wake_all()
