"""Host: what is known of one, what waits for it, and the line of the address it shares."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

from ...data import Request
from .request_queue import RequestQueue

#: Seconds the failures of a host are remembered after it has rested, with nothing to do.
_FAILURE_MEMORY = 1800.0

#: Instead of the time something wakes at: it is ready, or on no heap at all.
READY = float("-inf")
NEVER = float("inf")


class Address:
    """The hosts that share an IP address; *waiting* are due, but the address is not."""

    __slots__ = ("in_flight", "ready_at", "waiting", "wakes_at")

    def __init__(self) -> None:
        self.in_flight = 0
        self.ready_at = 0.0
        self.waiting: deque[Host] = deque()
        self.wakes_at = NEVER


class Host:
    """
    What is known of a host, and what waits for it.

    It says what follows from that alone; when its turn comes, among others and by the rules
    of politeness, is for HostSchedule, which alone changes *wakes_at*, *forget_at* and *waits_for_address*.
    """

    __slots__ = (
        "address",
        "batch_left",
        "batch_place",
        "crawl_delay",
        "delay",
        "done",
        "failed",
        "failures",
        "forget_at",
        "in_flight",
        "latency",
        "name",
        "parked",
        "paused",
        "queue",
        "ready_at",
        "retries",
        "robots_requests",
        "stored",
        "waits_for_address",
        "wakes_at",
        "was_ready_at",
        "why",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.queue = RequestQueue()
        #: How many requests more wait in the overflow only, behind those in the queue.
        self.stored = 0
        #: Requests that are to be tried again, by when; most hosts never have any.
        self.retries: list[tuple[float, int, Request]] | None = None
        self.in_flight = 0
        self.ready_at = 0.0
        #: The same before the last request began, if no other was in flight then.
        self.was_ready_at = 0.0
        self.latency = 0.0
        self.crawl_delay: float | None = None
        #: What set_delay() asked for, instead of the general delay.
        self.delay: float | None = None
        self.failures = 0
        self.done = 0
        self.failed = 0
        #: Requests for robots.txt, which go before all others and need no leave.
        self.robots_requests: list[Request] | None = None
        self.paused = False
        #: What all but robots_requests must wait for: its robots.txt, its address.
        self.parked = ""
        #: Whether it stands in the line of its address.
        self.waits_for_address = False
        #: Why it rests until ready_at.
        self.why = ""
        self.address: Address | None = None
        #: Since when it has had its turn, its place among those of that time, and how many more
        #: requests it may begin in it.
        self.batch_place = (0.0, 0)
        self.batch_left = 0
        #: The time of its entry on the heap of those that rest; entries of other times are stale.
        self.wakes_at = NEVER
        #: The time of its entry on the heap of those that have nothing to do.
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

    @property
    def forgettable_at(self) -> float:
        """When the host, with nothing to do, may be forgotten; never while anybody relies on it."""
        if (
            self.parked
            or self.paused
            or self.waits_for_address
            or self.in_flight
            or self.stored
            or self.delay is not None
        ):
            return NEVER
        return self.ready_at + _FAILURE_MEMORY if self.failures else self.ready_at

    def move_due_retries(self, now: float) -> None:
        """Let what was to be tried again by *now* go before all of its rank."""
        while self.retries and self.retries[0][0] <= now:
            self.queue.put_first(heapq.heappop(self.retries)[2])


@dataclass(frozen=True, slots=True)
class HostFigures:
    """
    One row of the table of hosts; *due_in* is None while nothing is queued or it is parked.

    *done* and *failed* count since the host was last heard of: one that has rested and has
    nothing waiting is forgotten.
    """

    host: str
    queued: int
    in_flight: int
    done: int
    failed: int
    due_in: float | None
    delay: float
    why: str
    #: The usual seconds to an answer, the latest counting most.
    latency: float = 0.0

    @classmethod
    def of(cls, host: Host, *, delay: float, now: float) -> HostFigures:
        waits = host.queued and not (host.parked or host.paused)
        resting = host.why if host.ready_at > now else ""
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
