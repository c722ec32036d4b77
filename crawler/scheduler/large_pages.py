"""LargePages: when the next large page may be analysed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, thread_time

from gevent.event import Event

#: A rest follows only if an analysis took longer, in seconds of CPU time.
_SHORT = 0.1
#: A rest is so many times as long as the analysis before it, divided by the number of large pages.
#: One domain has four of them at most, and so gets a twentieth of the time.
_REST = 80
_LONGEST_REST = 120.0
#: A rest is over when no other page was analysed for so many seconds.
_PATIENCE = 1.0


class LargePages:
    """
    Lets some time pass between the analyses of large pages, in which other pages are analysed.

    Most of the analysis of a page, such as the construction of its tree, cannot be interrupted,
    and nothing else runs meanwhile. So hosts that have only large pages, or are hostile, would
    leave little time to all others. *waiting* returns how many large pages wait in their pool.
    """

    def __init__(self, waiting: Callable[[], int]) -> None:
        #: How many wait in rest(); note_other() has no effect if none does.
        self.resting = 0
        self._waiting = waiting
        self._ended = self._seconds = 0.0
        self._other_page = Event()

    def rest(self, is_alone: Callable[[], bool]) -> None:
        """Wait until a large page may be analysed; not while it *is_alone*: nobody else has work."""
        self.resting += 1
        try:
            while (left := self._due - monotonic()) > 0 and not is_alone():
                self._other_page.clear()
                if not self._other_page.wait(min(left, _PATIENCE)):
                    return
        finally:
            self.resting -= 1

    def note_other(self) -> None:
        """Note that a page that is not large was analysed, or that the rest is to end."""
        self._other_page.set()

    @contextmanager
    def analysing(self) -> Iterator[None]:
        """Return a context in which a large page is analysed."""
        began = thread_time()
        try:
            yield
        finally:
            self._ended, self._seconds = monotonic(), thread_time() - began

    @property
    def _due(self) -> float:
        if self._seconds < _SHORT:
            return 0.0
        rest = self._seconds * _REST / (1 + self._waiting())
        return self._ended + min(rest, _LONGEST_REST)
