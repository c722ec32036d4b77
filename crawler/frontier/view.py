"""FrontierView: what is due next, when, and what keeps it, in figures and in words."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from .budget import Spending
from .hosts.backoff import Backoff
from .hosts.host import HostFigures
from .hosts.host_schedule import HostSchedule


class FrontierView:
    """Looks at what waits, for people; it changes nothing."""

    def __init__(
        self, hosts: HostSchedule, manners: Backoff, spending: Spending, clock: Callable[[], float]
    ) -> None:
        self._hosts = hosts
        self._backoff = manners
        self._spending = spending
        self._clock = clock

    def busiest(self, most: int) -> list[HostFigures]:
        """Return the figures of the hosts with the most to do."""
        now = self._clock()
        busiest = heapq.nsmallest(
            most, self._hosts, key=lambda h: (-h.queued - h.in_flight, h.name)
        )
        return [self._hosts.figures(host, now) for host in busiest]

    def waiting_for(self) -> str:
        """Say in one line what keeps the next of the requests that wait from being taken."""
        due = self._hosts.first()
        if due is None:
            held = [host for host in self._hosts if host.queued and (host.paused or host.parked)]
            named = (f"{h.name} ({'paused' if h.paused else h.parked})" for h in held[:3])
            return ", ".join(named) or "a free downloader"
        when, name, why = due
        return f"{name} ({why or 'due'}), in {max(0.0, when - self._clock()):.1f} s"

    def resting(self) -> str:
        """Say why the host that is due first is not due yet; empty if one is, or none is to be."""
        now = self._clock()
        due = self._hosts.first()
        if due is None:
            return ""
        if now < self._spending.free_at:
            return "bandwidth"
        host = self._hosts.find(due[1])
        if due[0] <= now or host is None:
            return ""
        return due[2] if due[2] == "address" else self._backoff.why_resting(host)

    def next_wake(self) -> float | None:
        """Return the seconds until the next request is due; None if none waits for its time."""
        due = self._hosts.first()
        return None if due is None else max(0.0, due[0] - self._clock())
