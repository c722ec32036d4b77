"""Waiters: greenlets that wait for a change."""

from __future__ import annotations

from collections import deque
from typing import Any

from gevent import get_hub, getcurrent


class Waiters:
    """
    Greenlets of one hub that wait for a change; while none waits, a change costs only a test of
    *asleep*.

    A woken greenlet must check its condition again, because another greenlet may have been
    faster. So call wait() in a loop; a superfluous wake-up is harmless.
    """

    __slots__ = ("asleep",)

    def __init__(self) -> None:
        #: Those that wait and have not been woken, the one that has waited longest first.
        self.asleep: deque[_Waiter] = deque()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait to be woken; return False after *timeout* seconds without a wake-up."""
        hub = get_hub()
        waiter = _Waiter(getcurrent(), hub.loop)
        self.asleep.append(waiter)
        timer = None if timeout is None else hub.loop.timer(max(0.0, timeout))
        is_woken = False
        try:
            if timer is not None:
                timer.start(waiter.time_is_over, update=True)
            is_woken = hub.switch() is waiter
        finally:
            if timer is not None:
                timer.close()
            if not is_woken:
                self._leave(waiter)
            del waiter  # a traceback may keep this frame, and with it the greenlet that failed
        return is_woken

    def wake(self) -> None:
        """Wake the greenlet that has waited longest."""
        if self.asleep:
            self.asleep.popleft().wake()

    def wake_all(self) -> None:
        while self.asleep:
            self.wake()

    def _leave(self, waiter: _Waiter) -> None:
        """Forget *waiter*, which waits no longer; if it was woken, wake the next one instead."""
        if waiter.wake_up is None:
            self.asleep.remove(waiter)
        else:
            waiter.wake_up.stop()
            self.wake()


class _Waiter:
    """A greenlet that waits, and the callback of the hub that continues it once it is woken."""

    __slots__ = ("_greenlet", "_loop", "wake_up")

    def __init__(self, greenlet: Any, loop: Any) -> None:
        self._greenlet = greenlet
        self._loop = loop
        self.wake_up: Any = None

    def wake(self) -> None:
        self.wake_up = self._loop.run_callback(self._greenlet.switch, self)

    def time_is_over(self) -> None:
        if self.wake_up is None:
            self._greenlet.switch()
