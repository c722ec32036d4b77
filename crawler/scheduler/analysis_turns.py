"""AnalysisTurns: which pages are analysed beside each other."""

from __future__ import annotations

from gevent.event import Event

from ..frontier import FrontierContract, Taken


class AnalysisTurns:
    """
    Lets any number of pages be analysed at a time, but a suspect by itself.

    A page is a suspect if a process has died while it was among those under analysis. By
    itself it shows whether it is the cause; the other suspects then come to their end.
    """

    def __init__(self, frontier: FrontierContract) -> None:
        self._frontier = frontier
        self._running: set[Taken] = set()
        self._suspect_runs = False
        #: How many wait for a turn, and how many of those are suspects.
        self._waiting = self._suspects_waiting = 0
        self._changed = Event()

    def enter(self, taken: Taken) -> None:
        """Begin to analyse *taken*, when it may; leave() must follow."""
        if self._suspect_runs or self._suspects_waiting or taken.is_suspect:
            self._wait(taken)
        self._suspect_runs = taken.is_suspect
        self._running.add(taken)
        self._frontier.begin_analysis(taken)

    def leave(self, taken: Taken) -> None:
        """End that, or interrupt it while the callback waits; the second time nothing is to do."""
        if taken not in self._running:
            return
        self._running.remove(taken)
        self._frontier.end_analysis(taken)
        if taken.is_suspect:
            self._suspect_runs = False
        if self._waiting:
            self._changed.set()

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
