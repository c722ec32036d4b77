"""Parts: what the parts of one frontier share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gevent.event import Event

from .accounts import Accounts
from .admission.admission import Admission
from .admission.scope import Scope
from .admission.seen import Seen, make_seen
from .admission.traps import TrapGuard
from .budget import Budget, Spending
from .contract import Events
from .durable.journal import Journal, Restored
from .hosts.backoff import Backoff
from .hosts.host_queues import HostQueues
from .hosts.host_schedule import HostSchedule
from .hosts.nearest_depth import NearestDepth
from .hosts.politeness import Politeness
from .hosts.slot_shares import SlotShares
from .hosts.wakeup import Wakeup
from .retries import Retries
from .waiting import WaitingRequests


@dataclass(frozen=True)
class Rules:
    """The values that a frontier decides by; each of them checks itself."""

    scope: Scope
    politeness: Politeness
    retries: Retries
    budget: Budget
    traps: TrapGuard
    #: The name that a robots.txt knows the crawler by.
    agent: str
    #: How many requests may be in flight; None is any number.
    slots: int | None
    #: One of DUPLICATE_FILTERS.
    duplicate_filter: str


class Parts:
    """The state of a frontier: what was seen, what waits, what is known of hosts, and the counts."""

    def __init__(
        self,
        rules: Rules,
        journal: Journal,
        restored: Restored,
        seen: Seen | None,
        wakeup: Wakeup,
        clock: Callable[[], float],
    ) -> None:
        self.rules = rules
        self.events = Events()
        self.clock = clock
        self.journal = journal
        self.ledger = restored.ledger
        self.suspects = restored.suspects
        self.spending = Spending(rules.budget, self.ledger)
        if seen is None:
            seen = make_seen(rules.duplicate_filter) if restored.seen is None else restored.seen
        self.admission = Admission(
            rules.scope,
            seen,
            rules.traps,
            restored.fingerprint,
            admits_seen=rules.duplicate_filter == "off",
            sends=journal.sends,
        )
        shares = SlotShares() if rules.slots is None else SlotShares(rules.slots)
        self.hosts = HostSchedule(rules.politeness, shares)
        self.backoff = Backoff(rules.politeness, self.hosts, journal.learned)
        self.nearest = NearestDepth(matters=rules.scope.max_depth is not None)
        self.queues = HostQueues(rules.politeness, self.hosts, self.nearest, wakeup, clock)
        self.waiting = WaitingRequests(self.queues, journal)
        self.accounts = Accounts(self.ledger, journal, self.queues.name_of)
        #: Set while requests may be taken.
        self.flowing = Event()
        self.flowing.set()
