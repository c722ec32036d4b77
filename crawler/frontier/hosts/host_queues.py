"""HostQueues: the requests that wait for their hosts, and the wait until one is due."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ... import url as urls
from ...data import Link, Request
from ..budget import is_begun
from .addresses import Addresses
from .host import Host
from .host_schedule import HostSchedule
from .nearest_depth import NearestDepth
from .origins import DeadOrigins
from .politeness import Politeness
from .wakeup import Wakeup


class HostQueues:
    """
    Keeps every waiting request in the queue of its host; take() sleeps here until one is due.

    The record of a host has its name, or its registered domain if the hosts of a domain share
    their limits. If hosts of one IP address share their limits, a new host waits until its
    address is known. Entries that NearestDepth calls stale are never handed out. Every change
    that lets a request begin earlier than expected wakes take().
    """

    def __init__(
        self,
        politeness: Politeness,
        hosts: HostSchedule,
        nearest: NearestDepth,
        wakeup: Wakeup,
        clock: Callable[[], float],
    ) -> None:
        #: No request is sent to them any more.
        self.dead = DeadOrigins()
        self._politeness = politeness
        self._hosts = hosts
        self._nearest = nearest
        self._clock = clock
        self._addresses = Addresses(found=self.unpark)
        self.wakeup = wakeup

    def __len__(self) -> int:
        return self._hosts.queued - len(self._nearest)

    # -- the host of a URL --------------------------------------------------------------------

    def name_of(self, url: str) -> str:
        return self.shared(urls.host(url))

    def shared(self, name: str) -> str:
        """Return the name of the record that the host *name* belongs to."""
        return urls.registered_domain(name) if self._politeness.share == "domain" else name

    def host_of(self, url: str) -> Host:
        return self.host_named(self.shared(urls.host(url)))

    def host_named(self, name: str) -> Host:
        """Return the record *name*; look up the address of a new one if addresses have limits."""
        host = self._hosts.find(name)
        if host is None:
            host = self._hosts.table.find_or_add(name)
            if self._politeness.by_address:
                self._hosts.park(host, "address")
                self._addresses.look_up(host)
        return host

    def record(self, name: str) -> Host:
        """Return the record of the host *name*, as a user typed it; add one if there is none."""
        return self._hosts.table.find_or_add(self.shared(name.lower()))

    def is_dead(self, url: str) -> bool:
        return bool(self.dead) and urls.origin(url) in self.dead

    # -- in and out ---------------------------------------------------------------------------

    def put(self, host: Host, found: Request | Link, *, first: bool = False) -> None:
        self._nearest.enter(found)
        self._hosts.put(host, found, self._clock(), first=first)
        self.wakeup.wake_before(host.due())

    def put_later(self, host: Host, request: Request, due: float, now: float) -> None:
        self._hosts.put_later(host, request, due, now)
        self.wakeup.wake_before(host.due())

    def ask(self, robots_request: Request, now: float) -> None:
        """Put a request for a robots.txt before all that waits for its host."""
        host = self.host_of(robots_request.url)
        host.robots_requests = [*(host.robots_requests or ()), robots_request]
        self._hosts.schedule(host, now)
        self.wakeup.wake_before(host.due())

    def pull(self, host: Host) -> Request | None:
        """Take out the next request of *host*; return None if none may be taken."""
        while host.queue.size and not host.parked:
            request = self._hosts.pull(host)
            if not self._nearest.leave(request):
                return request
        return None

    def drain(self, host: Host, *, spare_begun: bool = False) -> Iterator[Request]:
        """Take out all requests that wait for *host*; not those of pages that were begun if asked."""
        host.release_retries(lambda request: not (spare_begun and is_begun(request)))
        begun: list[Request] = []
        try:
            while host.queue.size:
                request = self._hosts.pull(host)
                if spare_begun and is_begun(request):
                    begun.append(request)
                elif not self._nearest.leave(request):
                    yield request
        finally:
            for request in begun:
                self._hosts.put(host, request, self._clock())
            self._hosts.schedule(host, self._clock())

    def nearer(self, again: Request | Link) -> Request | Link | None:
        """Return the waiting entry with the depth of *again* if that is smaller; otherwise None."""
        return self._nearest.nearer(again)

    def forget_last(self, host: Host, last: Request) -> bool:
        """Drop the *last* request in the queue of *host*; return whether it was not stale."""
        self._hosts.forget_last(host)
        return not self._nearest.leave(last)

    # -- sleep and wake -----------------------------------------------------------------------

    def next_due(self, now: float, free_at: float) -> float | None:
        """Return when a request is due, but not before *free_at*; None if none waits for its time."""
        due = self._hosts.first()
        until = None if due is None else due[0]
        kept = self._hosts.shares.kept_until
        if kept > now and self._hosts.shares.holds_back:
            until = kept if until is None else min(until, kept)
        return None if until is None else max(until, free_at, now)

    def wake(self) -> None:
        self.wakeup.wake()

    def wake_after(self, host: Host) -> None:
        """Wake take() if *host*, or one that shares its address or slots, may be due earlier."""
        if host.address is not None or self._hosts.shares.holds_back:
            self.wakeup.wake()
        else:
            self.wakeup.wake_before(host.due())

    def unpark(self, host: Host) -> None:
        host.parked = ""
        self._hosts.schedule(host, self._clock())
        self.wakeup.wake_before(host.due())

    def close(self) -> None:
        self._addresses.close()
        self.wakeup.wake()
