"""The limits of a budget that are a matter of time: a crawl that takes too long, or is too slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import gevent

from ..frontier import FrontierContract
from .memory_guard import MemoryGuard
from .meter import Meter


def ends(
    frontier: FrontierContract, meter: Meter, memory: MemoryGuard
) -> Iterator[Callable[[], None]]:
    """
    Yield a function to run beside the crawl for each limit that is a matter of time.

    Each returns when it has cut the crawl off. The frontier applies the limits on numbers
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
    """Cut off a slow crawl; one that pause() or a lack of memory holds up is not slow."""
    slow = False
    while not slow:
        before, held = meter.responses, _is_held(frontier, memory)
        gevent.sleep(patience)
        pages = meter.responses - before
        slow = pages < rate * patience and not (held or _is_held(frontier, memory))
    frontier.cut_off("slow")


def _is_held(frontier: FrontierContract, memory: MemoryGuard) -> bool:
    return frontier.view.paused or memory.short
