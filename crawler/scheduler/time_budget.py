"""The limits of a budget that depend on time: a crawl that takes too long, or is too slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import gevent

from ..frontier import FrontierContract
from .memory_guard import MemoryGuard
from .meter import Meter


def time_limits(
    frontier: FrontierContract, meter: Meter, memory: MemoryGuard
) -> Iterator[Callable[[], None]]:
    """
    Yield, for each limit that depends on time, a function to run in a greenlet of its own.

    It returns after it has cut the crawl off. The limits on numbers are applied by the frontier
    itself, when it counts.
    """
    budget = frontier.budget
    if budget.seconds is not None:
        yield partial(_end_after, budget.seconds, frontier)
    if budget.min_rate is not None:
        yield partial(_end_below, budget.min_rate, budget.patience, frontier, meter, memory)


def _end_after(seconds: float, frontier: FrontierContract) -> None:
    gevent.sleep(seconds)
    frontier.cut_off("time_limit")


def _end_below(
    rate: float, patience: float, frontier: FrontierContract, meter: Meter, memory: MemoryGuard
) -> None:
    """Cut off a slow crawl; while it is paused or short of memory, a crawl does not count as slow."""
    slow = False
    while not slow:
        before, held = meter.responses, _is_held(frontier, memory)
        gevent.sleep(patience)
        pages = meter.responses - before
        slow = pages < rate * patience and not (held or _is_held(frontier, memory))
    frontier.cut_off("slow")


def _is_held(frontier: FrontierContract, memory: MemoryGuard) -> bool:
    return frontier.view.paused or memory.short
