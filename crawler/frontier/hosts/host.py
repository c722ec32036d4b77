"""
Host: the state of one host, and what waits for it.

Address: an IP address that hosts share. Domain: a registered domain and its hosts.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...data import Request
from .origins import FailingOrigin
from .request_queue import RequestQueue

#: Seconds for which the failures of an idle host are remembered after it has rested.
_FAILURE_MEMORY = 1800.0

#: What a host is: with requests in flight; due; resting; waiting for more than time, such as its
#: robots.txt or resume(); or without requests.
HOST_STATES = ("in_flight", "ready", "resting", "waiting", "idle")
#: Values of *wakes_at* that are not times: ready, and on no heap.
READY = float("-inf")
NEVER = float("inf")


class HostFacts(NamedTuple):
    """Why a host rests for how many *seconds*; or an origin, and its *failures* in a row."""

    name: str
    failures: int
    seconds: float
    why: str

    @property
    def is_of_origin(self) -> bool:
        return "://" in self.name


class Address:
    """An IP address that hosts share; those *waiting* are due, but the address is not."""

    __slots__ = ("__weakref__", "in_flight", "ready_at", "waiting", "wakes_at")

    def __init__(self) -> None:
        self.in_flight = 0
        self.ready_at = 0.0
        self.waiting: deque[Host] = deque()
        self.wakes_at = NEVER


class Domain:
    """
    A registered domain, whose owner can make any number of hosts.

    *active* is the number of its hosts with requests that wait or are in flight, *slow* that of
    its slow requests in flight, *heavy* that of its pages that take much memory or time. The
    hosts in *held* are due, but may not begin a request because of these.
    *usual_time* is how long a request for a page of it usually takes; NEVER if none has ended.
    """

    __slots__ = ("__weakref__", "active", "heavy", "held", "slow", "usual_time")

    def __init__(self) -> None:
        self.active = self.slow = self.heavy = 0
        self.usual_time = NEVER
        self.held: dict[Host, None] = {}


class Host:
    """
    The state of a host, and the requests that wait for it.

    Its methods depend on this state alone. HostSchedule, with its parts, decides when the host
    comes next, and alone changes *wakes_at*, *forget_at* and *waits_for_address*; SlotShares
    alone changes *is_active*, *late* and *usual_time*.
    """

    __slots__ = (
        "address",
        "batch_left",
        "batch_place",
        "crawl_delay",
        "delay",
        "domain",
        "done",
        "failed",
        "failing",
        "failures",
        "forget_at",
        "in_flight",
        "is_active",
        "late",
        "latency",
        "name",
        "parked",
        "paused",
        "queue",
        "ready_at",
        "retries",
        "robots_requests",
        "stored",
        "usual_time",
        "waits_for_address",
        "wakes_at",
        "was_ready_at",
        "why",
    )

    def __init__(self, name: str, domain: Domain | None = None) -> None:
        self.name = name
        self.domain = Domain() if domain is None else domain
        self.queue = RequestQueue()
        #: How many requests more wait in the overflow only, behind those in the queue.
        self.stored = 0
        #: A heap of the requests to retry, by the time they are due; most hosts never have any.
        self.retries: list[tuple[float, int, Request]] | None = None
        self.in_flight = 0
        #: Whether requests wait for it or are in flight, for the count of its domain.
        self.is_active = False
        #: How many of those in flight take long, and how long one for a page usually takes;
        #: NEVER if none has ended.
        self.late = 0
        self.usual_time = NEVER
        self.ready_at = 0.0
        #: The value of ready_at before the last request began, if no other was in flight then.
        self.was_ready_at = 0.0
        self.latency = 0.0
        self.crawl_delay: float | None = None
        #: The delay that set_delay() asked for, instead of the general one.
        self.delay: float | None = None
        #: Its origins that fail; most hosts have none. And the most failures in a row of one of them.
        self.failing: dict[str, FailingOrigin] | None = None
        self.failures = 0
        self.done = 0
        self.failed = 0
        #: Requests for robots.txt: they come before all others, and no robots.txt applies to them.
        self.robots_requests: list[Request] | None = None
        self.paused = False
        #: What all but robots_requests wait for: the host's robots.txt, or its address.
        self.parked = ""
        #: Whether it is among those *waiting* for its address.
        self.waits_for_address = False
        #: Why it rests until ready_at.
        self.why = ""
        self.address: Address | None = None
        #: Its place among ready hosts during a batch: when the batch became due, and a number
        #: that breaks ties; and how many more requests the batch may begin.
        self.batch_place = (0.0, 0)
        self.batch_left = 0
        #: The time of its entry on the heap of resting hosts; entries of other times are stale.
        self.wakes_at = NEVER
        #: The time of its entry on the heap of idle hosts.
        self.forget_at = NEVER

    @property
    def queued(self) -> int:
        return self.queue.size + (len(self.retries) if self.retries else 0) + self.stored

    @property
    def has_work(self) -> bool:
        return bool(self.robots_requests or ((self.queue.size or self.retries) and not self.parked))

    def due(self) -> float:
        if self.queue.size or self.robots_requests or not self.retries:
            return self.ready_at
        return max(self.ready_at, self.retries[0][0])

    def origin_rests_until(self, origin: str) -> float:
        failing = self.failing.get(origin) if self.failing else None
        return 0.0 if failing is None else failing.rests_until

    def state(self, now: float) -> str:
        """Return one of HOST_STATES."""
        if self.in_flight:
            return "in_flight"
        if not (self.queued or self.robots_requests):
            return "idle"
        if self.paused or self.waits_for_address or not self.has_work:
            return "waiting"
        return "resting" if self.due() > now else "ready"

    @property
    def why_not_due(self) -> str:
        """Why it is not due earlier than it is."""
        due = self.due()
        if due <= self.ready_at:
            return self.why
        resting = (f.why for f in (self.failing or {}).values() if f.rests_until >= due)
        return next(resting, "retry")

    @property
    def forgettable_at(self) -> float:
        """When the idle host may be forgotten; NEVER while something depends on its state."""
        if (
            self.parked
            or self.paused
            or self.waits_for_address
            or self.in_flight
            or self.stored
            or self.delay is not None
        ):
            return NEVER
        if not self.failing:
            return self.ready_at
        rests = (failing.rests_until for failing in self.failing.values())
        return max(self.ready_at, *rests) + _FAILURE_MEMORY

    def move_due_retries(self, now: float) -> None:
        """Move the retries that are due by *now* to the front of their rank in the queue."""
        due: list[Request] = []
        while self.retries and self.retries[0][0] <= now:
            due.append(heapq.heappop(self.retries)[2])
        for request in reversed(due):
            self.queue.put_first(request)

    def release_retries(self, which: Callable[[Request], bool]) -> None:
        """Let the retries of *which* that is true wait no longer."""
        if not self.retries:
            return
        released = [entry[2] for entry in self.retries if which(entry[2])]
        self.retries = [entry for entry in self.retries if not which(entry[2])]
        heapq.heapify(self.retries)
        for request in released:
            self.queue.put(request)


@dataclass(frozen=True, slots=True)
class HostFigures:
    """
    The figures of one host; *due_in* is None if nothing is queued, or the host is paused or parked.

    *done* and *failed* start at 0 again after the host was forgotten: a host is, when it has
    rested and nothing waits for it.
    """

    host: str
    queued: int
    in_flight: int
    done: int
    failed: int
    due_in: float | None
    delay: float
    why: str
    #: The average seconds until an answer; the latest answers count most.
    latency: float = 0.0

    @classmethod
    def of(cls, host: Host, *, delay: float, now: float) -> HostFigures:
        waits = host.queued and not (host.parked or host.paused)
        resting = host.why_not_due if host.due() > now else ""
        return cls(
            host=host.name,
            queued=host.queued,
            in_flight=host.in_flight,
            done=host.done,
            failed=host.failed,
            due_in=max(0.0, host.due() - now) if waits else None,
            delay=delay,
            why="paused" if host.paused else host.parked or resting,
            latency=host.latency,
        )
