"""DueTimer: calls a function at a time that is mostly put off before it comes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any


class DueTimer:
    """
    Calls *call* once the time that was set last has come.

    A timer of the loop is not touched when the time is put off; when it fires too early, it is
    armed again. So most calls of set() cost a comparison.
    """

    def __init__(self, loop: Any, call: Callable[[], object]) -> None:
        self._loop = loop
        self._call = call
        self._timer: Any = None
        self._armed_for = self._due = 0.0

    def set(self, seconds: float) -> None:
        """Call in *seconds* from now, and no longer at the time that was set before."""
        self._due = monotonic() + seconds
        if self._timer is None or self._due < self._armed_for:
            self._arm()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.close()
            self._timer = None

    def _arm(self) -> None:
        self.cancel()
        self._armed_for = self._due
        self._timer = self._loop.timer(max(0.0, self._due - monotonic()))
        self._timer.start(self._fire, update=True)

    def _fire(self) -> None:
        if monotonic() < self._due:
            self._arm()
        else:
            self.cancel()
            self._call()
