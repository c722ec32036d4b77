"""How the pages of other hosts go on while one page takes long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import TypeVar

import gevent
from gevent.lock import BoundedSemaphore

from .._give_way import give_way

_T = TypeVar("_T")
#: The number of steps, of a few microseconds each, after which others run.
_TURN = 1 << 8
#: After so many turns a page is long: it rests after each turn, so many seconds at most.
_LONG, _LONGEST_REST = 4, 0.01
#: How many elements of a sequence make a part.
_PART = 1 << 10
_turnstile = BoundedSemaphore()


def in_turns(steps: Iterable[_T], every: int = _TURN) -> Iterator[_T]:
    """
    Yield *steps*, and let other greenlets run after *every* some of them; in a long page, as long.

    However many pages are read so at a time, one of them goes on after each of these rests: all of
    them together leave half of the time to others, and keep them waiting for one turn at most. They
    go on in the order in which they came: none waits until another one ends.
    """
    steps = iter(steps)
    began = perf_counter()
    for turns, first in enumerate(steps):
        if turns:
            if turns < _LONG:
                give_way()
            else:
                _rest(min(perf_counter() - began, _LONGEST_REST))
            began = perf_counter()
        yield first
        yield from islice(steps, every - 1)


def _rest(seconds: float) -> None:
    give_way()  # Another page that waits for the turnstile enters it now, before this one does.
    with _turnstile:
        gevent.sleep(seconds)


def in_parts(sequence: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield the parts of a long *sequence*, in turns; a short one is its only part."""
    if len(sequence) <= _PART:
        return iter((sequence,))
    parts = (sequence[start : start + _PART] for start in range(0, len(sequence), _PART))
    return in_turns(parts, every=1)
