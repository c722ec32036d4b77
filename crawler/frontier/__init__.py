"""
Which request may be fetched, and when.

A request is outstanding from admit() to settle(). Scope and seen decide once, at the admission;
a redirect hop or a request put back re-enters behind them, keeping its identity.
"""

from .admission.scope import Scope
from .admission.seen import BloomSeen, ExactSeen, MmapSeen
from .admission.traps import TrapGuard
from .after_fetch import Next
from .budget import Budget
from .durable.sqlite_journal import DurableFrontier
from .durable.store import Store
from .frontier import Frontier
from .hosts.host import HostFigures
from .hosts.politeness import Politeness
from .outcome import DONE, Outcome, UrlCounts, failed, refused
from .retries import Retries

__all__ = [
    "DONE",
    "BloomSeen",
    "Budget",
    "DurableFrontier",
    "ExactSeen",
    "Frontier",
    "HostFigures",
    "MmapSeen",
    "Next",
    "Outcome",
    "Politeness",
    "Retries",
    "Scope",
    "Store",
    "TrapGuard",
    "UrlCounts",
    "failed",
    "refused",
]
