"""OffCpu: how long a thread was kept from running."""

from __future__ import annotations

from pathlib import Path

_NANOSECONDS = 1e9


class OffCpu:
    """
    Measures how long a thread waited for a CPU, or its process was stopped.

    Linux counts in the thread's *schedstat* how long it worked and how long it waited for a CPU.
    Elsewhere nothing is known, and no time is lost.
    """

    def __init__(self, schedstat: Path) -> None:
        self._schedstat = schedstat
        self._worked, self._waited = self._read()

    def lost(self, late: float) -> float:
        """
        Return the seconds lost since the last call.

        This call comes *late* by some seconds: in these the thread worked without releasing the
        interpreter, or the whole process did not run.
        """
        before = self._worked, self._waited
        self._worked, self._waited = self._read()
        if not self._worked:
            return 0.0
        return max(0.0, self._waited - before[1], late - (self._worked - before[0]))

    def _read(self) -> tuple[float, float]:
        try:
            worked, waited, _ = self._schedstat.read_text().split()
        except (OSError, ValueError):
            return 0.0, 0.0
        return int(worked) / _NANOSECONDS, int(waited) / _NANOSECONDS
