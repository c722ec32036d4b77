"""Waiters: greenlets that wait for a change."""

from __future__ import annotations

from gevent.lock import Semaphore


class Waiters:
    """
    Greenlets that wait for a change; while none waits, a change costs only a test of *asleep*.

    A woken greenlet must check its condition again, because another greenlet may have been
    faster. So call wait() in a loop; a superfluous wake-up is harmless.
    """

    __slots__ = ("_waiting", "_wakes", "asleep")

    def __init__(self) -> None:
        #: The number of greenlets that wait and have not been woken; below 0 while the wake-up
        #: of a greenlet that stopped waiting is left over.
        self.asleep = 0
        self._waiting = 0
        self._wakes = Semaphore(0)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait to be woken; return False after *timeout* seconds without a wake-up."""
        self._count(1)
        try:
            return self._wakes.acquire(True, timeout)
        finally:
            self._count(-1)

    def wake(self) -> None:
        """Wake the greenlet that has waited longest."""
        if self.asleep > 0:
            self.asleep -= 1
            self._wakes.release()

    def wake_all(self) -> None:
        while self.asleep > 0:
            self.wake()

    def _count(self, change: int) -> None:
        self._waiting += change
        self.asleep = self._waiting - self._wakes.counter
