"""Hosts: one politeness record each, and a heap of when each is next due."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ..data import Link, Request
from .lane import Lane
from .politeness import Politeness

#: How much one more response moves the latency a host is known for.
_WEIGHT = 0.3
#: Among hosts that are due, a point of priority is worth this many seconds of waiting.
_PRIORITY_SECONDS = 1.0


class Address:
    """The hosts that share an IP address; *waiting* are due, but the address is not."""

    __slots__ = ("in_flight", "ready_at", "turn", "version", "waiting")

    def __init__(self) -> None:
        self.in_flight = 0
        self.ready_at = 0.0
        self.version = 0
        #: The host that may use the address next, though others wait.
        self.turn: Host | None = None
        self.waiting: deque[Host] = deque()


class Host:
    """What is known of a host, and what waits for it."""

    __slots__ = (
        "address",
        "crawl_delay",
        "delay",
        "done",
        "failed",
        "failures",
        "in_flight",
        "in_line",
        "lane",
        "latency",
        "later",
        "name",
        "parked",
        "paused",
        "questions",
        "ready_at",
        "version",
        "why",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.lane = Lane()
        #: Requests that are to be tried again, by when; most hosts never have any.
        self.later: list[tuple[float, int, Request]] | None = None
        self.in_flight = 0
        self.ready_at = 0.0
        self.latency = 0.0
        self.crawl_delay: float | None = None
        #: What set_delay() asked for, instead of the general delay.
        self.delay: float | None = None
        self.failures = 0
        self.done = 0
        self.failed = 0
        #: Requests for robots.txt, which go before all others and need no leave.
        self.questions: list[Request] | None = None
        self.paused = False
        #: What all but questions must wait for: its robots.txt, its address.
        self.parked = ""
        #: Whether it stands in the line of its address.
        self.in_line = False
        #: Why it rests until ready_at.
        self.why = ""
        self.address: Address | None = None
        #: Heap entries of another version are stale.
        self.version = 0

    @property
    def queued(self) -> int:
        return len(self.lane) + (len(self.later) if self.later else 0)

    @property
    def has_work(self) -> bool:
        return bool(self.questions or (self.queued and not self.parked))

    def due(self) -> float:
        if self.lane or self.questions or not self.later:
            return self.ready_at
        return max(self.ready_at, self.later[0][0])


@dataclass(frozen=True, slots=True)
class HostFigures:
    """One row of the table of hosts; *due_in* is None while nothing is queued or it is parked."""

    host: str
    queued: int
    in_flight: int
    done: int
    failed: int
    due_in: float | None
    delay: float
    why: str


class Hosts:
    """
    Hands out the request of the host that has been due longest.

    A known host is, at any moment:

    - resting: on one heap, by the time it is due (to be forgotten then, if it has nothing);
    - ready: on the other, by that time less its priority;
    - waiting for its address, which other hosts share; or
    - off, because it is parked or has all it may have in flight.

    It never blocks and never looks at a clock: the frontier does both.
    """

    def __init__(self, politeness: Politeness) -> None:
        self._politeness = politeness
        self._hosts: dict[str, Host] = {}
        self._resting: list[tuple[float, int, int, Host | Address]] = []
        self._ready: list[tuple[float, int, int, Host]] = []
        self._numbers = itertools.count()
        self.queued = 0

    def __len__(self) -> int:
        return len(self._hosts)

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts.values())

    def find(self, name: str) -> Host | None:
        return self._hosts.get(name)

    def known(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(name)
        return host

    def put(self, host: Host, found: Request | Link, now: float, *, first: bool = False) -> None:
        urgent = found.priority > host.lane.priority
        idle = not host.lane
        if first and isinstance(found, Request):
            host.lane.put_first(found)
        else:
            host.lane.put(found)
        self.queued += 1
        if idle or urgent:
            self.schedule(host, now)

    def ask(self, host: Host, question: Request, now: float) -> None:
        host.questions = [*(host.questions or ()), question]
        self.schedule(host, now)

    def put_later(self, host: Host, request: Request, due: float, now: float) -> None:
        host.later = host.later or []
        heapq.heappush(host.later, (due, next(self._numbers), request))
        self.queued += 1
        self.schedule(host, now)

    def ready(self, now: float) -> Host | None:
        """
        Return the host whose turn it is, None if none is due.

        The caller pulls requests from it until it can begin() one; or else schedule()s it.
        """
        self._wake(now)
        while self._ready:
            _, _, version, host = heapq.heappop(self._ready)
            if version == host.version and self._has_address(host, now):
                return host
        return None

    def pull(self, host: Host) -> Request:
        self.queued -= 1
        return host.lane.get()

    def begin(self, host: Host, now: float) -> None:
        """Count one more request in flight; the next one keeps its distance from this one."""
        host.in_flight += 1
        self.rest(host, now, self.pause_of(host), "delay")
        if host.address is not None:
            host.address.in_flight += 1
            self._rest_address(host.address, now)
        self.schedule(host, now)

    def first(self) -> tuple[float, str, str] | None:
        """Return when to look again, and for which host and why; None if nothing waits for its time."""
        while self._resting and self._resting[0][2] != self._resting[0][3].version:
            heapq.heappop(self._resting)
        if not self._resting:
            return None
        due, _, _, one = self._resting[0]
        host = one if isinstance(one, Host) else one.waiting[0]
        return due, host.name, host.why

    def end(
        self, host: Host, now: float, latency: float | None = None, *, asked: bool = True
    ) -> None:
        """Free the place a request had; the host rests from now, if it was *asked* at all."""
        host.in_flight -= 1
        if latency is not None:
            known = host.latency or latency
            host.latency = known + (latency - known) * _WEIGHT
        if asked:
            self.rest(host, now, self.pause_of(host), "delay")
        if host.address is not None:
            host.address.in_flight -= 1
            self._rest_address(host.address, now)
        self.schedule(host, now)

    def rest(self, host: Host, now: float, seconds: float, why: str) -> None:
        """Let no request of *host* start before *seconds* have passed."""
        if now + seconds > host.ready_at:
            host.ready_at = now + seconds
            host.why = why

    def park(self, host: Host, why: str) -> None:
        """Let nothing but questions be taken from *host* until unpark()."""
        host.parked = why

    def unpark(self, host: Host, now: float) -> None:
        host.parked = ""
        self.schedule(host, now)

    def pause(self, host: Host, now: float, *, paused: bool) -> None:
        host.paused = paused
        self.schedule(host, now)

    def drain(self, host: Host, now: float) -> Iterator[Request]:
        """Take out all that waits for *host*."""
        self.queued -= host.queued
        later, host.later = host.later, None
        yield from host.lane.drain()
        yield from (request for _, _, request in later or ())
        self.schedule(host, now)

    def pause_of(self, host: Host) -> float:
        if host.delay is not None:
            return max(host.delay, host.crawl_delay or 0.0)
        return self._politeness.pause(host.latency, host.crawl_delay)

    def limit(self, host: Host) -> int:
        """One at a time where robots.txt asks for a delay, and while a host fails."""
        if host.crawl_delay or host.failures >= self._politeness.probe_after:
            return 1
        return self._politeness.per_host

    def figures(self, host: Host, now: float) -> HostFigures:
        waits = host.queued and not (host.parked or host.paused)
        return HostFigures(
            host=host.name,
            queued=host.queued,
            in_flight=host.in_flight,
            done=host.done,
            failed=host.failed,
            due_in=max(0.0, host.due() - now) if waits else None,
            delay=self.pause_of(host),
            why="paused"
            if host.paused
            else host.parked or (host.why if host.ready_at > now else ""),
        )

    def schedule(self, host: Host, now: float) -> None:
        """Put *host* where it belongs, after anything about it has changed."""
        if host.in_line:
            return
        host.version += 1
        if host.paused or host.in_flight >= self.limit(host):
            return
        if host.has_work:
            self._hosts[host.name] = host
        if host.has_work or (host.ready_at > now and not host.parked):
            self._rest_until(max(host.due(), now), host)
        elif not (host.in_flight or host.queued or host.parked):
            self._forget(host)

    def _wake(self, now: float) -> None:
        """Move what is due from the one heap to the other; forget hosts that have rested."""
        while self._resting and self._resting[0][0] <= now:
            due, _, version, one = heapq.heappop(self._resting)
            if version != one.version:
                continue
            if isinstance(one, Address):
                self._next_in_line(one, now)
            elif one.has_work:
                self._ripen(one, now)
                self._make_ready(one, due)
            elif not (one.in_flight or one.queued):
                self._forget(one)

    def _ripen(self, host: Host, now: float) -> None:
        while host.later and host.later[0][0] <= now:
            host.lane.put_first(heapq.heappop(host.later)[2])

    def _make_ready(self, host: Host, due: float) -> None:
        key = due - host.lane.priority * _PRIORITY_SECONDS
        heapq.heappush(self._ready, (key, next(self._numbers), host.version, host))

    def _has_address(self, host: Host, now: float) -> bool:
        """Say if the host's address may take a request; else let the host stand in its line."""
        address = host.address
        if address is None:
            return True
        free = address.in_flight < self._politeness.address_limit and address.ready_at <= now
        if free and (not address.waiting or address.turn is host):
            address.turn = None
            return True
        host.in_line = True
        address.waiting.append(host)
        self._arm(address)
        return False

    def _next_in_line(self, address: Address, now: float) -> None:
        host = address.turn = address.waiting.popleft()
        host.in_line = False
        self.schedule(host, now)

    def _rest_address(self, address: Address, now: float) -> None:
        address.ready_at = max(address.ready_at, now + self._politeness.address_delay)
        self._arm(address)

    def _arm(self, address: Address) -> None:
        """See to it that the next in line gets its turn when the address may be used."""
        address.version += 1
        if address.waiting and address.in_flight < self._politeness.address_limit:
            self._rest_until(address.ready_at, address)

    def _rest_until(self, due: float, one: Host | Address) -> None:
        heapq.heappush(self._resting, (due, next(self._numbers), one.version, one))

    def _forget(self, host: Host) -> None:
        host.version += 1
        self._hosts.pop(host.name, None)
