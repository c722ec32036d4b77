"""Where a budget ends a crawl that goes on too long, or gets nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import gevent

from ..frontier import Frontier
from .memory_guard import MemoryGuard
from .meter import Meter


def ends(frontier: Frontier, meter: Meter, memory: MemoryGuard) -> Iterator[Callable[[], None]]:
    """
    Yield what to run beside the crawl, for each limit that is a matter of time.

    Each returns when it has cut the crawl off. What is a matter of numbers the frontier
    sees to, as it counts.
    """
    budget = frontier.budget
    if budget.seconds is not None:
        yield partial(_end_after, budget.seconds, frontier)
    if budget.min_rate is not None:
        yield partial(_end_below, budget.min_rate, budget.patience, frontier, meter, memory)


def _end_after(seconds: float, frontier: Frontier) -> None:
    gevent.sleep(seconds)
    frontier.cut_off("time_limit")


def _end_below(
    rate: float, patience: float, frontier: Frontier, meter: Meter, memory: MemoryGuard
) -> None:
    """A crawl that is held up on purpose, by pause() or for want of memory, is not slow."""
    slow = False
    while not slow:
        before, held = meter.responses, _is_held(frontier, memory)
        gevent.sleep(patience)
        pages = meter.responses - before
        slow = pages < rate * patience and not (held or _is_held(frontier, memory))
    frontier.cut_off("slow")


def _is_held(frontier: Frontier, memory: MemoryGuard) -> bool:
    return frontier.paused or memory.short
