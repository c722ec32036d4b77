"""
Which request may be fetched, and when.

A request is outstanding from admit() to settle(). Scope and seen decide once, at the door;
a redirect hop or a request put back re-enters behind them, keeping its identity.
"""

from .frontier import Frontier
from .outcome import DONE, Outcome, UrlCounts, failed, refused
from .scope import Scope

__all__ = ["DONE", "Frontier", "Outcome", "Scope", "UrlCounts", "failed", "refused"]
