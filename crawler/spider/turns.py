"""How the pages of other hosts go on while one page takes long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TypeVar

import gevent
from gevent.lock import BoundedSemaphore

_T = TypeVar("_T")
#: The number of steps, of a few microseconds each, after which others run; and how long at most.
_TURN, _LONGEST = 1 << 10, 0.01
_turnstile = BoundedSemaphore()


def in_turns(steps: Iterable[_T]) -> Iterator[_T]:
    """
    Yield *steps*, and let other greenlets run as long after every some of them.

    However many pages are read so at a time, one of them goes on after each of these rests: all of
    them together leave half of the time to others, and keep them waiting for one turn at most.
    """
    began = perf_counter()
    for number, step in enumerate(steps, 1):
        yield step
        if not number % _TURN:
            with _turnstile:
                gevent.sleep(min(perf_counter() - began, _LONGEST))
            began = perf_counter()
