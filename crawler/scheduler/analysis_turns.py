"""AnalysisTurns: which pages may be analysed at the same time."""

from __future__ import annotations

from gevent import getcurrent
from gevent.event import Event

from ..frontier import FrontierContract, Taken


class AnalysisTurns:
    """
    Lets any number of pages be analysed at the same time, but each suspect alone.

    A page is a suspect if a process has died while it was under analysis, perhaps together
    with other pages. Analysed alone, it shows whether it was the cause; the suspects that were
    not the cause are then finished.
    """

    def __init__(self, frontier: FrontierContract) -> None:
        self._frontier = frontier
        #: By page, the greenlet that analyses it.
        self._running: dict[Taken, object] = {}
        self._suspect_runs = False
        #: The number of pages that wait for their turn, and of the suspects among them.
        self._waiting = self._suspects_waiting = 0
        self._changed = Event()

    def enter(self, taken: Taken) -> None:
        """Wait until *taken* may be analysed, and mark it as under analysis; leave() must follow."""
        if self._suspect_runs or self._suspects_waiting or taken.is_suspect:
            self._wait(taken)
        self._suspect_runs = taken.is_suspect
        self._running[taken] = getcurrent()
        self._frontier.begin_analysis(taken)

    def leave(self, taken: Taken) -> None:
        """End the analysis, or interrupt it while its callback waits; a second call does nothing."""
        if taken not in self._running:
            return
        del self._running[taken]
        self._frontier.end_analysis(taken)
        if taken.is_suspect:
            self._suspect_runs = False
        if self._waiting:
            self._changed.set()

    def is_mine(self, taken: Taken) -> bool:
        """Return whether the calling greenlet analyses *taken*."""
        return self._running.get(taken) is getcurrent()

    def __contains__(self, taken: Taken) -> bool:
        return taken in self._running

    def _wait(self, taken: Taken) -> None:
        self._waiting += 1
        self._suspects_waiting += taken.is_suspect
        try:
            while self._suspect_runs or (
                self._running if taken.is_suspect else self._suspects_waiting
            ):
                self._changed.clear()
                self._changed.wait()
        finally:
            self._waiting -= 1
            self._suspects_waiting -= taken.is_suspect
            if self._waiting:
                self._changed.set()
