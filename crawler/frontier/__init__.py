"""
Which request may be fetched, and when.

A request is outstanding from admit() to settle(). Scope and seen decide once, at admission;
a redirect hop or a request put back waits again behind them, with the same identity.
contract.py is what the rest of the crawler uses.
"""

from .admission.fingerprint import Fingerprint
from .admission.scope import ANY_DOMAIN, Scope
from .admission.seen import BloomSeen, ExactSeen, MmapSeen
from .admission.traps import TrapGuard
from .budget import Budget, cut_off_by
from .contract import FrontierContract, FrontierView, Next, Taken
from .durable.journal import CrawlJournal
from .durable.recovery import Recovered
from .durable.reopening import FailedPages
from .durable.sqlite_journal import SqliteJournal
from .frontier import Frontier
from .hosts.host import HostFigures
from .hosts.politeness import Politeness
from .ledger import UrlCounts
from .outcome import DONE, Outcome, failed, refused
from .retries import Retries

__all__ = [
    "ANY_DOMAIN",
    "DONE",
    "BloomSeen",
    "Budget",
    "CrawlJournal",
    "ExactSeen",
    "FailedPages",
    "Fingerprint",
    "Frontier",
    "FrontierContract",
    "FrontierView",
    "HostFigures",
    "MmapSeen",
    "Next",
    "Outcome",
    "Politeness",
    "Recovered",
    "Retries",
    "Scope",
    "SqliteJournal",
    "Taken",
    "TrapGuard",
    "UrlCounts",
    "cut_off_by",
    "failed",
    "refused",
]
