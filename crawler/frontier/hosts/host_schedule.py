"""HostSchedule: which of them is next, and when."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

from ...data import Link, Request
from .host import NEVER, READY, Address, Host, HostFigures
from .politeness import Politeness

#: How much one more response moves the latency a host is known for.
_WEIGHT = 0.3
#: Among hosts that are due, a point of priority is worth this many seconds of waiting.
_PRIORITY_SECONDS = 1.0
#: How many requests a host that needs no rest, and shares no address, begins before the others
#: go first: it has the connections, and much that is remembered of it.
_BATCH = 16
#: How many stale entries a heap may have besides one for each host.
_SLACK = 100


class HostSchedule:
    """
    Hands out the request of the host that has been due longest, and a few more of its own.

    A known host is, at any moment:

    - resting: on a heap, by the time it is due;
    - ready: on another, by that time less its priority;
    - waiting in the line of its address, which other hosts share;
    - off, because it is parked or paused, or has all it may have in flight; or
    - idle: on a third heap, by the time it may be forgotten.

    An address with a line rests and gets ready like a host. Each has one entry on a heap,
    at the time it wakes. What comes to be due later keeps its entry, which is put right
    when it comes up; only what is due earlier gets a new one.

    It never blocks and never looks at a clock: the frontier does both.
    """

    def __init__(self, politeness: Politeness) -> None:
        self._politeness = politeness
        self._hosts: dict[str, Host] = {}
        self._resting: list[tuple[float, int, Host | Address]] = []
        self._ready: list[tuple[float, int, int, Host | Address]] = []
        self._idle: list[tuple[float, int, Host]] = []
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
        queue = host.queue
        idle, urgent = not queue.size, found.priority > queue.priority
        if first and isinstance(found, Request):
            queue.put_first(found)
        else:
            queue.put(found)
        self.queued += 1
        if idle:
            self.schedule(host, now)
        elif urgent and host.wakes_at == READY:
            self._make_ready(host, now)

    def ask(self, host: Host, question: Request, now: float) -> None:
        host.robots_requests = [*(host.robots_requests or ()), question]
        self.schedule(host, now)

    def put_later(self, host: Host, request: Request, due: float, now: float) -> None:
        host.retries = host.retries or []
        heapq.heappush(host.retries, (due, next(self._numbers), request))
        self.queued += 1
        self.schedule(host, now)

    def forget_last(self, host: Host) -> None:
        """Drop the request that would come last of all that wait in the queue of *host*."""
        host.queue.remove_last()
        self.queued -= 1

    def ready(self, now: float) -> Host | None:
        """
        Return the host whose turn it is, None if none is due.

        The caller pulls requests from it until it can begin() one; or else schedule()s it.
        """
        self._fade(now)
        self._wake(now)
        while self._ready:
            *_, one = heapq.heappop(self._ready)
            if one.wakes_at != READY:
                continue
            one.wakes_at = NEVER
            if isinstance(one, Host):
                host = one if self._is_due(one, now) and self._has_address(one, now) else None
            else:
                host = self._next_in_line(one, now)
            if host is not None:
                return host
        return None

    def pull(self, host: Host) -> Request:
        self.queued -= 1
        return host.queue.get()

    def begin(self, host: Host, now: float) -> None:
        """Count one more request in flight; the next one keeps its distance from this one."""
        host.was_ready_at = NEVER if host.in_flight else host.ready_at
        host.in_flight += 1
        pause = self.pause_of(host)
        host.batch_left = 0 if pause else (host.batch_left or _BATCH) - 1
        self.rest(host, now, pause, "delay")
        if host.address is not None:
            host.batch_left = 0
            self._use(host.address, now, by=1)
        self.schedule(host, now)

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
        else:
            host.ready_at = min(host.ready_at, host.was_ready_at)
        if host.address is not None:
            self._use(host.address, now, by=-1)
        self.schedule(host, now)

    def first(self) -> tuple[float, str, str] | None:
        """Return what is due first: when, which host, and why not before; None if nothing is."""
        while self._ready and self._is_stale(self._ready[0][-1]):
            heapq.heappop(self._ready)
        one = self._ready[0][-1] if self._ready else self._first_resting()
        if one is None:
            return None
        if isinstance(one, Address):
            return one.ready_at, one.waiting[0].name, "address"
        return one.due(), one.name, one.why

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
        """Let nothing but robots_requests be taken from *host* until unpark()."""
        host.parked = why

    def unpark(self, host: Host, now: float) -> None:
        host.parked = ""
        self.schedule(host, now)

    def pause(self, host: Host, now: float, *, paused: bool) -> None:
        host.paused = paused
        self.schedule(host, now)

    def drain(self, host: Host, now: float) -> Iterator[Request]:
        """Take out all that waits for *host*."""
        for _, _, request in host.retries or ():
            host.queue.put(request)
        host.retries = None
        while host.queue.size:
            yield self.pull(host)
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
        return HostFigures.of(host, delay=self.pause_of(host), now=now)

    def schedule(self, host: Host, now: float) -> None:
        """Put *host* where it belongs, after anything about it has changed."""
        if host.has_work:
            self._hosts[host.name] = host
            # What has an entry for now, or is ready, needs no earlier one.
            turn = self._turn(host) if host.wakes_at > now else None
            if turn is not None:
                self._rest_until(max(turn, now), host)
        elif host.forget_at == NEVER:
            self._let_fade(host, now)
        if host.address is not None and host.address.waiting:
            self._call(host.address)

    # -- the heaps --------------------------------------------------------------------------

    def _turn(self, one: Host | Address) -> float | None:
        """Return when a request may begin; None if that takes more than time."""
        if isinstance(one, Address):
            is_free = one.in_flight < self._politeness.address_limit
            return one.ready_at if one.waiting and is_free else None
        if not one.has_work or one.waits_for_address or one.paused:
            return None
        if one.in_flight and one.in_flight >= self.limit(one):
            return None
        return one.due()

    def _is_due(self, host: Host, now: float) -> bool:
        """Say if *host*, which is on no heap, may begin a request; else put it where it belongs."""
        turn = self._turn(host)
        if turn is not None and turn <= now:
            return True
        self.schedule(host, now)
        return False

    def _is_stale(self, one: Host | Address) -> bool:
        """Say if *one*, which comes first of those that are ready, is so no more."""
        if one.wakes_at != READY:
            return True
        if self._turn(one) is None:
            one.wakes_at = NEVER
            return True
        return False

    def _rest_until(self, due: float, one: Host | Address) -> None:
        if due < one.wakes_at:
            one.wakes_at = due
            heapq.heappush(self._resting, (due, next(self._numbers), one))
            if len(self._resting) > 2 * len(self._hosts) + _SLACK:
                self._tidy()

    def _tidy(self) -> None:
        """Drop the stale entries: those of a retry far ahead can become many before it is due."""
        live = {id(one): (due, n, one) for due, n, one in self._resting if due == one.wakes_at}
        self._resting = list(live.values())
        heapq.heapify(self._resting)

    def _first_resting(self) -> Host | Address | None:
        """Return who is due first, once the entries before it are gone or put right."""
        resting = self._resting
        while resting:
            due, _, one = resting[0]
            turn = self._turn(one) if due == one.wakes_at else None
            if turn is None:
                heapq.heappop(resting)
                one.wakes_at = NEVER if due == one.wakes_at else one.wakes_at
            elif turn > due:
                one.wakes_at = turn
                heapq.heapreplace(resting, (turn, next(self._numbers), one))
            else:
                return one
        return None

    def _wake(self, now: float) -> None:
        """Move what is due from the one heap to the other."""
        # No entry is later than what it stands for: if the first is not due, nothing is.
        while self._resting and self._resting[0][0] <= now:
            one = self._first_resting()
            if one is None or one.wakes_at > now:
                return
            due, _, _ = heapq.heappop(self._resting)
            if isinstance(one, Host):
                one.move_due_retries(now)
            one.wakes_at = READY
            self._make_ready(one, due)

    def _make_ready(self, one: Host | Address, due: float) -> None:
        host = one.waiting[0] if isinstance(one, Address) else one
        number = next(self._numbers)
        if not host.batch_left:
            host.batch_place = (due, number)
        since, place = host.batch_place
        key = since - host.queue.priority * _PRIORITY_SECONDS
        heapq.heappush(self._ready, (key, place, number, one))

    def _fade(self, now: float) -> None:
        """Forget the hosts that have had nothing to do for long enough."""
        while self._idle and self._idle[0][0] <= now:
            _, _, host = heapq.heappop(self._idle)
            host.forget_at = NEVER
            self.schedule(host, now)

    def _let_fade(self, host: Host, now: float) -> None:
        forgettable_at = host.forgettable_at
        if forgettable_at <= now:
            # What was forgotten may come up again when there is a new record by its name.
            if self._hosts.get(host.name) is host:
                del self._hosts[host.name]
        elif forgettable_at < NEVER:
            host.forget_at = forgettable_at
            heapq.heappush(self._idle, (forgettable_at, next(self._numbers), host))

    # -- addresses --------------------------------------------------------------------------

    def _has_address(self, host: Host, now: float) -> bool:
        """Say if the host's address may take a request; else let the host stand in its line."""
        address = host.address
        if address is None or (not address.waiting and self._is_free(address, now)):
            return True
        host.waits_for_address = True
        address.waiting.append(host)
        self._call(address)
        return False

    def _next_in_line(self, address: Address, now: float) -> Host | None:
        """Return the host that may use *address*; the next one is called when it has, or has not."""
        chosen = None
        while chosen is None and address.waiting and self._is_free(address, now):
            host = address.waiting.popleft()
            host.waits_for_address = False
            chosen = host if self._is_due(host, now) else None
        if chosen is None:
            self._call(address)
        return chosen

    def _is_free(self, address: Address, now: float) -> bool:
        return address.in_flight < self._politeness.address_limit and address.ready_at <= now

    def _use(self, address: Address, now: float, *, by: int) -> None:
        address.in_flight += by
        address.ready_at = max(address.ready_at, now + self._politeness.address_delay)

    def _call(self, address: Address) -> None:
        """See to it that the next in line gets its turn when the address may be used."""
        turn = self._turn(address)
        if turn is not None:
            self._rest_until(turn, address)
