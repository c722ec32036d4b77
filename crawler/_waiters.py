"""Waiters: greenlets that wait for a change."""

from __future__ import annotations

from gevent.lock import Semaphore


class Waiters:
    """
    Greenlets that wait for a change; while none is asleep, making one costs a look at *asleep*.

    To be woken means to look again, no more: another greenlet may have been faster. So wait()
    belongs in a loop, and one time too many does no harm.
    """

    __slots__ = ("_waiting", "_wakes", "asleep")

    def __init__(self) -> None:
        #: How many wait and have not been woken; below 0 when one left before it was.
        self.asleep = 0
        self._waiting = 0
        self._wakes = Semaphore(0)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait to be woken; return False if that took longer than *timeout* seconds."""
        self._count(1)
        try:
            return self._wakes.acquire(True, timeout)
        finally:
            self._count(-1)

    def wake(self) -> None:
        """Wake the one that has been asleep longest."""
        if self.asleep > 0:
            self.asleep -= 1
            self._wakes.release()

    def wake_all(self) -> None:
        while self.asleep > 0:
            self.wake()

    def _count(self, change: int) -> None:
        self._waiting += change
        self.asleep = self._waiting - self._wakes.counter
