"""HostSchedule: which host may begin a request next, and when."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

from ...data import Link, Request
from .address_limits import AddressLimits
from .due_heaps import DueHeaps
from .host import NEVER, READY, Address, Host, HostFigures
from .host_table import HostTable
from .politeness import Politeness
from .slot_shares import SlotShares

#: The weight of one more response in the average latency of a host.
_WEIGHT = 0.3
#: How many requests a host that needs no rest, and shares no address, begins before the others
#: go first: its connections are open, and much about it is cached.
_BATCH = 16


class HostSchedule:
    """
    Chooses the host that has been due longest, for a batch of requests if it needs no rest.

    A known host is, at any moment:

    - resting: on a heap, by the time it is due;
    - ready: on another heap, by that time less its priority;
    - waiting for its address, which other hosts share;
    - held back, because slow hosts have as many requests in flight as they may have;
    - off: it is parked or paused, or has all the requests in flight that it may have; or
    - idle: on a third heap, by the time it may be forgotten.

    DueHeaps keeps the first two heaps, HostTable the third, AddressLimits the hosts that wait
    for an address, SlotShares those that are held back. Each operation takes O(log hosts). The schedule never blocks and never
    reads a clock: the frontier does both.
    """

    def __init__(self, politeness: Politeness, shares: SlotShares | None = None) -> None:
        self.table = HostTable()
        self.shares = SlotShares() if shares is None else shares
        #: How many requests wait in memory, retries included.
        self.queued = 0
        self._politeness = politeness
        self._by_name = self.table.by_name
        self._due = DueHeaps(politeness)
        self._addresses = AddressLimits(politeness, self._due)
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Host]:
        return iter(self._by_name.values())

    def find(self, name: str) -> Host | None:
        return self._by_name.get(name)

    def figures(self, host: Host, now: float) -> HostFigures:
        return HostFigures.of(host, delay=self._politeness.pause_of(host), now=now)

    # -- what waits ---------------------------------------------------------------------------

    def put(self, host: Host, found: Request | Link, now: float, *, first: bool = False) -> None:
        queue = host.queue
        was_empty, is_urgent = not queue.size, found.priority > queue.priority
        if first and isinstance(found, Request):
            queue.put_first(found)
        else:
            queue.put(found)
        self.queued += 1
        if was_empty:
            self.schedule(host, now)
        elif is_urgent and host.wakes_at == READY:
            self._due.make_ready(host, now)

    def put_later(self, host: Host, request: Request, due: float, now: float) -> None:
        host.retries = host.retries or []
        heapq.heappush(host.retries, (due, next(self._numbers), request))
        self.queued += 1
        self.schedule(host, now)

    def pull(self, host: Host) -> Request:
        self.queued -= 1
        return host.queue.get()

    def forget_last(self, host: Host) -> None:
        """Drop the request that would come last of all that wait in the queue of *host*."""
        host.queue.remove_last()
        self.queued -= 1

    # -- which host is next -------------------------------------------------------------------

    def ready(self, now: float) -> Host | None:
        """
        Return the host that comes first of those that are due; None if none is due.

        The caller pulls requests from it until it can begin() one; otherwise it calls schedule().
        """
        self.table.forget_idle(now)
        held = self.shares.release(now)
        if held is not None:
            self.schedule(held, now)
        self._due.wake(now)
        while (one := self._due.pop()) is not None:
            if isinstance(one, Address):
                host = self._next_at_address(one, now)
                if host is not None:
                    return host
            elif self._is_due(one, now):
                address = one.address
                if address is None or not self._addresses.must_wait(one, address, now):
                    return one
        return None

    def first(self) -> tuple[float, str, str] | None:
        """Return when a request is due first, of which host, and why not earlier; None if never."""
        one = self._due.first()
        if one is None:
            return None
        if isinstance(one, Address):
            return one.ready_at, one.waiting[0].name, "address"
        return one.due(), one.name, one.why_not_due

    def _is_due(self, host: Host, now: float) -> bool:
        """
        Return whether *host*, which is on no heap, may begin a request.

        If not, it is scheduled, or held back.
        """
        start = self._due.starts_at(host)
        if start is None or start > now:
            self.schedule(host, now)
            return False
        if self.shares.may_begin(host, now):
            return True
        self.shares.hold(host)
        return False

    def _next_at_address(self, address: Address, now: float) -> Host | None:
        """Return the next host that may use *address*; if there is none, schedule the address."""
        while (host := self._addresses.pop_waiting(address, now)) is not None:
            if self._is_due(host, now):
                return host
        self._addresses.schedule(address)
        return None

    # -- what happens to a host ---------------------------------------------------------------

    def begin(self, host: Host, now: float) -> None:
        """Count one more request in flight; the host rests after its start, too."""
        host.was_ready_at = NEVER if host.in_flight else host.ready_at
        host.in_flight += 1
        pause = self._politeness.pause_of(host)
        host.batch_left = 0 if pause else (host.batch_left or _BATCH) - 1
        self.rest(host, now, pause, "delay")
        if host.address is not None:
            host.batch_left = 0
            self._addresses.count(host.address, now, by=1)
        self.schedule(host, now)

    def end(
        self, host: Host, now: float, latency: float | None = None, *, asked: bool = True
    ) -> None:
        """Count one request less in flight; the host rests from now if it was *asked* at all."""
        host.in_flight -= 1
        if latency is not None:
            average = host.latency or latency
            host.latency = average + (latency - average) * _WEIGHT
        if asked:
            self.rest(host, now, self._politeness.pause_of(host), "delay")
        else:
            host.ready_at = min(host.ready_at, host.was_ready_at)
        if host.address is not None:
            self._addresses.count(host.address, now, by=-1)
        self.schedule(host, now)

    def rest(self, host: Host, now: float, seconds: float, why: str) -> None:
        """Let no request of *host* start before *seconds* have passed."""
        if now + seconds <= host.ready_at:
            return
        host.ready_at = now + seconds
        host.why = why
        if host.wakes_at == READY and seconds:
            host.wakes_at = NEVER
            self.schedule(host, now)

    def park(self, host: Host, why: str) -> None:
        """Let only requests for robots.txt be taken from *host*, until *parked* is emptied."""
        host.parked = why

    def pause(self, host: Host, now: float, *, paused: bool) -> None:
        host.paused = paused
        self.schedule(host, now)

    def schedule(self, host: Host, now: float) -> None:
        """Put *host* where it belongs, after anything about it has changed."""
        has_work = host.has_work
        if host.is_active is not (has_work or host.in_flight > 0):
            self.shares.note_work(host)
        if has_work:
            self._by_name[host.name] = host
            # A host that is ready, or wakes now, needs no earlier entry.
            start = self._due.starts_at(host) if host.wakes_at > now else None
            if start is not None:
                self._due.rest_until(max(start, now), host)
        elif host.forget_at == NEVER:
            self.table.forget_when_idle(host, now)
        if host.address is not None and host.address.waiting:
            self._addresses.schedule(host.address)
