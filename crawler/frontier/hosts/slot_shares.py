"""SlotShares: how many requests of slow hosts may be in flight while other hosts have work."""

from __future__ import annotations

import sys
from collections import deque

from .host import NEVER, Domain, Host

#: Seconds from which a request takes long.
SLOW = 2.0
#: The weight of one more request in the usual time of a host.
_WEIGHT = 0.3
#: The longest time that counts for one request: one that hangs does not spoil a good record.
_LONGEST = 2 * SLOW
#: Seconds for which slots are kept for a quick host after it was due or in flight last: until its
#: pages are analysed, nobody knows whether it has more to do.
_GRACE = 30.0
#: A domain with so many heavy pages gets no more of them: enough to analyse one after another.
_MOST_HEAVY = 4


class Flight:
    """A request in flight; it *is_slow* if its host was not quick, or if it takes too long."""

    __slots__ = ("began", "host", "is_late", "is_over", "is_slow")

    def __init__(self, host: Host, began: float) -> None:
        self.host = host
        self.began = began
        self.is_slow = not _is_quick(host)
        self.is_late = self.is_over = False


class SlotShares:
    """
    Keeps slots free for hosts that answer quickly: a request in flight cannot be taken back.

    A host is slow until it has answered a page, while a request of it takes longer than SLOW
    seconds, and if its requests, or those of its domain, usually do. While another host that is quick has work, slow
    hosts hold at most half of the *slots*. While another domain has work, the slow hosts of one
    domain hold no more slots than remain for others, so that a new domain finds a slot; and
    hosts that nothing is known of count as if half of the slots were kept. A slow host that may
    not begin a request is held back until a slow request ends. A domain that is alone may use
    all slots. A domain with several heavy pages is held back until one of them is over.
    """

    def __init__(self, slots: int = sys.maxsize) -> None:
        #: How many slow requests are in flight.
        self.slow = 0
        self._slots = slots
        self._half = max(1, slots // 2)
        #: By time of begin; those at the start are not over, and not late yet.
        self._flights: deque[Flight] = deque()
        #: The domains with hosts that are held back, in the order in which that began.
        self._holding: dict[Domain, None] = {}
        self._active_domains = 0
        #: The two hosts that were quick last, and until when slots are kept for each.
        self._quick: tuple[Host | None, float] = (None, 0.0)
        self._quick_before: tuple[Host | None, float] = (None, 0.0)

    @property
    def holds_back(self) -> bool:
        """Whether a host is held back."""
        return bool(self._holding)

    @property
    def held_for(self) -> str:
        """What the first host that is held back waits for; empty if there is none."""
        domain = next(iter(self._holding), None)
        if domain is None:
            return ""
        return "large pages" if domain.heavy >= _MOST_HEAVY else "slow hosts"

    @property
    def kept_until(self) -> float:
        """The time from which no slots are kept for the hosts that are quick now."""
        return max(self._quick[1], self._quick_before[1])

    def note_work(self, host: Host) -> None:
        """Note that *host* has requests that wait or are in flight, or that it has none any more."""
        host.is_active = not host.is_active
        domain, change = host.domain, 1 if host.is_active else -1
        domain.active += change
        if domain.active == host.is_active:
            self._active_domains += change
        if host in domain.held:
            self._forget_held(host)

    def may_begin(self, host: Host, now: float) -> bool:
        if host.domain.heavy >= _MOST_HEAVY:
            return False
        if _is_quick(host):
            return True
        most = self._most(host, now)
        if self.slow >= most or self._active_domains <= 1:
            return self.slow < most
        if host.usual_time == NEVER:
            most = self._half
        return host.domain.slow < max(1, most - self.slow)

    def is_alone(self, host: Host, now: float) -> bool:
        """Return whether no other domain has work, and none had it a short time ago."""
        if self._active_domains > (host.domain.active > 0):
            return False
        recent = (one for one, until in (self._quick, self._quick_before) if until > now)
        return all(one is None or one.domain is host.domain for one in recent)

    def hold(self, host: Host) -> None:
        """Hold *host* back, which is due."""
        host.domain.held[host] = None
        self._holding[host.domain] = None

    def release(self, now: float) -> Host | None:
        """Return a host that was held back and may begin now; None if there is none."""
        self._note_late(now)
        for domain in self._holding:
            host = next(iter(domain.held))
            if self.may_begin(host, now):
                self._forget_held(host)
                return host
            if self.slow >= self._most(host, now):
                return None
        return None

    def begin(self, host: Host, now: float) -> Flight:
        flight = Flight(host, now)
        self._flights.append(flight)
        if flight.is_slow:
            self._count(flight, 1)
        else:
            self._keep_slots(host, now)
        if host in host.domain.held:
            self._forget_held(host)
        return flight

    def end(self, flight: Flight, now: float, seconds: float | None) -> None:
        """End *flight*, which took the host so many *seconds*; None if no page was asked for."""
        host, flight.is_over = flight.host, True
        while self._flights and self._flights[0].is_over:
            self._flights.popleft()
        if flight.is_slow:
            self._count(flight, -1)
        host.late -= flight.is_late
        if seconds is not None:
            seconds = min(seconds, _LONGEST)
            for one in (host, host.domain):
                usual = seconds if one.usual_time == NEVER else one.usual_time
                one.usual_time = usual + (seconds - usual) * _WEIGHT
        if _is_quick(host):
            self._keep_slots(host, now)

    def _most(self, host: Host, now: float) -> int:
        """Return how many slow requests may be in flight, for *host* to be one of them."""
        other, until = self._quick if self._quick[0] is not host else self._quick_before
        return self._half if other is not None and until > now else self._slots

    def _keep_slots(self, host: Host, now: float) -> None:
        due = now if host.failures else max(now, host.ready_at)
        if host is not self._quick[0]:
            self._quick_before = self._quick
        self._quick = (host, due + _GRACE)

    def _note_late(self, now: float) -> None:
        flights = self._flights
        while flights and flights[0].began + SLOW <= now:
            flight = flights.popleft()
            if flight.is_over:
                continue
            flight.is_late = True
            flight.host.late += 1
            if not flight.is_slow:
                flight.is_slow = True
                self._count(flight, 1)

    def _count(self, flight: Flight, change: int) -> None:
        self.slow += change
        flight.host.domain.slow += change

    def _forget_held(self, host: Host) -> None:
        domain = host.domain
        del domain.held[host]
        if not domain.held:
            del self._holding[domain]


def _is_quick(host: Host) -> bool:
    return host.usual_time <= SLOW >= host.domain.usual_time and not host.late
