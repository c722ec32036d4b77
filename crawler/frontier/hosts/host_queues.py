"""HostQueues: the requests that wait for their hosts, and the sleep until one is due."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ... import url as urls
from ...data import Link, Request
from .addresses import Addresses
from .host import Host
from .host_schedule import HostSchedule
from .nearest_depth import NearestDepth
from .politeness import Politeness
from .wakeup import Wakeup


class HostQueues:
    """
    Every request that waits, in the queue of its host; and whoever takes, asleep until one is due.

    A host goes by its name, or by its registered domain where hosts of one domain share
    their limits; where those of one address do, it waits until its own is known. An entry
    that NearestDepth calls stale is never handed out. Whatever lets a request begin earlier than
    the sleeper thinks wakes it.
    """

    def __init__(
        self,
        politeness: Politeness,
        hosts: HostSchedule,
        nearest: NearestDepth,
        clock: Callable[[], float],
    ) -> None:
        #: The names of hosts that were given up: nothing is to wait for them any more.
        self.dead: set[str] = set()
        self._politeness = politeness
        self._hosts = hosts
        self._nearest = nearest
        self._clock = clock
        self._addresses = Addresses(found=self.unpark)
        self._wakeup = Wakeup()

    def __len__(self) -> int:
        return self._hosts.queued - len(self._nearest)

    # -- whose turn a URL waits for -----------------------------------------------------------

    def name_of(self, url: str) -> str:
        return self.shared(urls.host(url))

    def shared(self, name: str) -> str:
        """Return the name of the record that the host *name* is kept in."""
        return urls.registered_domain(name) if self._politeness.share == "domain" else name

    def host_of(self, url: str) -> Host:
        return self.host_named(self.shared(urls.host(url)))

    def host_named(self, name: str) -> Host:
        """Return the record by *name*; a new one has its address looked up, if that matters."""
        host = self._hosts.find(name)
        if host is None:
            host = self._hosts.table.find_or_add(name)
            if self._politeness.by_address:
                self._hosts.park(host, "address")
                self._addresses.look_up(host)
        return host

    def record(self, name: str) -> Host:
        """Return what is known of a host whose *name* somebody has typed, found yet or not."""
        return self._hosts.table.find_or_add(self.shared(name.lower()))

    def is_dead(self, url: str) -> bool:
        return self.name_of(url) in self.dead

    # -- in and out ---------------------------------------------------------------------------

    def put(self, host: Host, found: Request | Link, *, first: bool = False) -> None:
        self._nearest.enter(found)
        self._hosts.put(host, found, self._clock(), first=first)
        self._wakeup.wake_before(host.due())

    def put_later(self, host: Host, request: Request, due: float, now: float) -> None:
        self._hosts.put_later(host, request, due, now)
        self._wakeup.wake_before(host.due())

    def ask(self, question: Request, now: float) -> None:
        """Let a *question* about robots.txt go before all that waits for its host."""
        host = self.host_of(question.url)
        host.robots_requests = [*(host.robots_requests or ()), question]
        self._hosts.schedule(host, now)
        self._wakeup.wake_before(host.due())

    def pull(self, host: Host) -> Request | None:
        """Return the next request of *host*, which waits no more; None if none may be taken."""
        while host.queue.size and not host.parked:
            request = self._hosts.pull(host)
            if not self._nearest.leave(request):
                return request
        return None

    def drain(self, host: Host) -> Iterator[Request]:
        """Take out all that waits for *host*."""
        for request in self._hosts.drain(host, self._clock()):
            if not self._nearest.leave(request):
                yield request

    def nearer(self, again: Request | Link) -> Request | Link | None:
        """Return what waits as *again* has found it, if that is nearer to the start."""
        return self._nearest.nearer(again)

    def forget_last(self, host: Host, last: Request) -> bool:
        """Drop the *last* request of the queue of *host*; say if it counted."""
        self._hosts.forget_last(host)
        return not self._nearest.leave(last)

    # -- sleep and wake -----------------------------------------------------------------------

    def sleep(self, now: float, free_at: float) -> None:
        """Wait until a request is due, though not before *free_at*; or for a sign that one may be."""
        due = self._hosts.first()
        self._wakeup.sleep(now, None if due is None else max(due[0], free_at))

    def wake(self) -> None:
        self._wakeup.wake()

    def wake_after(self, host: Host) -> None:
        """Let whoever takes look again: *host* may be due, or others that share its address."""
        if host.address is not None:
            self._wakeup.wake()
        else:
            self._wakeup.wake_before(host.due())

    def unpark(self, host: Host) -> None:
        host.parked = ""
        self._hosts.schedule(host, self._clock())
        self._wakeup.wake_before(host.due())

    def close(self) -> None:
        self._addresses.close()
        self._wakeup.wake()
