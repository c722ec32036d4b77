"""
Which request may be fetched, and when.

A request is outstanding from admit() to settle(). Scope and seen decide once, at the door;
a redirect hop or a request put back re-enters behind them, keeping its identity.
"""

from .budget import Budget
from .durable import DurableFrontier
from .frontier import Frontier
from .host import HostFigures
from .outcome import DONE, Outcome, UrlCounts, failed, refused
from .politeness import Politeness
from .retry import Retries
from .scope import Scope
from .seen import BloomSeen, ExactSeen, MmapSeen
from .sequel import Next
from .store import Store
from .traps import TrapGuard

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
