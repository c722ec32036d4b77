"""How long work on one page lets the pages of other hosts go on meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import gevent

_T = TypeVar("_T")
#: Steps of a few microseconds each.
_TURN = 1 << 12


def in_turns(steps: Iterable[_T]) -> Iterator[_T]:
    """Yield *steps*, and let other greenlets run after every few milliseconds of them."""
    for number, step in enumerate(steps, 1):
        yield step
        if not number % _TURN:
            gevent.sleep(0)
