"""Frontier: admit · take · fetched · settle · join."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable
from enum import Enum
from time import monotonic

import gevent
from gevent.event import Event

from .. import url as urls
from ..data import Link, Request, Response, new_id
from ..errors import FrontierClosed, ModuleError, Refusal, Retry
from .addresses import Addresses
from .budget import Budget
from .door import Door
from .gate import RobotsGate
from .hosts import Host, HostFigures, Hosts
from .manners import Manners
from .nearness import Nearness
from .outcome import Ledger, Outcome, UrlCounts, failed, refused
from .politeness import Politeness
from .redirect import PERMANENT, is_redirect
from .retry import Retries
from .robots import Robots
from .scope import Scope
from .seen import BloomSeen, Seen
from .sleeper import Sleeper
from .traps import TrapGuard
from .verdicts import Verdicts

log = logging.getLogger(__name__)

_MOST_MOVED = 10_000


class Next(Enum):
    """What comes after a fetch, if it was not the end of the request."""

    ANALYZE = "analyze"
    AGAIN = "again"


class Frontier:
    """
    Every request that has been admitted and is not settled, each in one of three states:

    - waiting: in the lane of its host, until the host is due and the request its next;
    - in flight: between take() and fetched();
    - taken: fetched, and being analysed, until settle().

    Admitting never blocks. A retry and a redirect hop wait again without being admitted
    again. take() sleeps until the host that is due first, and is woken by an earlier one.
    """

    def __init__(
        self,
        scope: Scope,
        *,
        politeness: Politeness | None = None,
        retries: Retries | None = None,
        budget: Budget | None = None,
        seen: Seen | None = None,
        traps: TrapGuard | None = None,
        ledger: Ledger | None = None,
        agent: str = "crawler",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.closed = False
        self.retried = 0
        #: Where pages have gone for good, as far as there is room to remember.
        self.moved: dict[str, str] = {}
        #: Whether it goes on with what an earlier one has left.
        self.resumed = False
        #: Told of each request that is settled here, without having been taken or fetched again.
        self.on_drop: Callable[[Request, Outcome], object] = _ignore
        self.budget = budget or Budget()
        self._politeness = politeness or Politeness()
        self._retries = retries or Retries()
        self._clock = clock
        self._ledger = ledger or Ledger()
        self._door = Door(scope, BloomSeen() if seen is None else seen, traps or TrapGuard())
        self._verdicts = Verdicts(scope.max_depth)
        #: Says if a URL is known to be turned away at a depth, and counts it as met then: the
        #: quick way for the many links that lead to where others have led. No says nothing.
        self.turns_away = self._verdicts.asked(self._ledger.turned_away)
        self._nearness = Nearness(matters=scope.max_depth is not None)
        self._hosts = Hosts(self._politeness)
        self._manners = Manners(self._politeness, self._hosts)
        self._gate = RobotsGate(agent)
        self._addresses = Addresses(found=self._unpark)
        self._sleeper = Sleeper()
        #: The ids of the requests that were admitted as such, and not as links.
        self._ids: set[str] = set()
        #: By id, the host of each request between take() and settle().
        self._taken: dict[str, Host] = {}
        #: The ids of those whose fetch has not ended.
        self._in_flight: set[str] = set()
        #: Hosts that were given up; what is found for them later is turned away.
        self._dead: set[str] = set()
        self._begun = 0
        self._bytes = 0
        #: When the bandwidth used so far will have been made up for.
        self._free_at = 0.0
        self._flowing = Event()
        self._flowing.set()
        self._settled = Event()
        self._settled.set()

    # -- the contract -----------------------------------------------------------------------

    def admit(self, found: Request | Link, *, within: str | None = None) -> str | None:
        """
        Let *found* in, or return the reason why not.

        *within* is the id of the request whose analysis waits for it, if one does: without
        that one it would be of no use.
        """
        reason = self._door.refusal(found)
        if reason is None and self._dead and self._name_of(found.url) in self._dead:
            reason = "host"
        if isinstance(found, Link):
            self._verdicts.add(found, reason)
        if reason is None:
            self._let_in(found, within)
        else:
            self._turn_away(found, reason)
        return reason

    def take(self) -> Request:
        """Return the next request that is due, waiting for one; raise FrontierClosed when closed."""
        while True:
            self._flowing.wait()
            if self.closed:
                raise FrontierClosed("the frontier is closed")
            now = self._clock()
            request = self._next(now)
            if request is not None:
                return request
            self._sleep(now)

    def fetched(self, request: Request, result: Response | ModuleError) -> Next | Outcome:
        """
        Tell how a taken *request* went, at the end of its fetch; learn what to do with it.

        ANALYZE passes the response on; AGAIN means that the request waits once more, as a
        retry or a redirect hop; an outcome is how the caller must settle it.
        """
        now = self._clock()
        host = self._taken.get(request.id)
        if host is None or request.id not in self._in_flight:
            raise ValueError(f"{request} is not taken, or was fetched already")
        self._in_flight.remove(request.id)
        self._manners.fetched(host, result, now)
        self._wake_after(host)
        if self._gate.is_question(request):
            self._answered(host, request, result, now)
            return Next.AGAIN
        if isinstance(result, Response) and "cached" not in result.flags:
            self._weigh(len(result.body), now)
        return self._follow_up(host, request, result, now)

    def is_question(self, request: Request) -> bool:
        """Say if *request* was not admitted but asks for a robots.txt."""
        return self._gate.is_question(request)

    def settle(self, request: Request, outcome: Outcome) -> None:
        """End *request*, which must be taken, for good."""
        if self._gate.is_question(request):
            self.put_back(request)
            return
        host = self._leave(request)
        # A host that has rested is forgotten, and may be known again by now.
        host = self._hosts.find(host.name) or host
        self._ids.discard(request.id)
        host.done += outcome.status == "done"
        host.failed += outcome.status == "failed"
        self._end(request, outcome)

    def put_back(self, request: Request) -> None:
        """Return a taken *request* to the ones that wait, past admission."""
        self._leave(request)
        if self._gate.is_question(request):
            asker = self._gate.close(request).host
            self._unpark(asker)
        elif self._door.shut is not None:
            self._drop(request, refused(self._door.shut))
        else:
            self._begun -= not (request.attempts or request.redirects)
            self._enter(request, first=True)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until nothing is outstanding, or the frontier is closed; say if nothing is."""
        with gevent.Timeout(timeout, False):  # type: ignore[arg-type]  # the stubs do not know False
            # Something may have been admitted since it was settled that nothing is left.
            while not (self.idle or self.closed):
                self._settled.wait()
        return self.idle

    def close(self) -> None:
        """Wake whoever waits; what is outstanding stays counted as pending."""
        self.closed = True
        self.on_drop = _ignore
        self._addresses.close()
        self._flowing.set()
        self._sleeper.wake()
        self._settled.set()

    def begin_analysis(self, request: Request) -> None:
        """Be told that the response to *request* is about to be worked on."""

    def end_analysis(self) -> None:
        """Be told that no response is being worked on."""

    # -- steering and watching --------------------------------------------------------------

    def pause(self, host: str | None = None) -> None:
        """Let nothing be taken (of *host*) until resume()."""
        if host is None:
            self._flowing.clear()
        else:
            self._hosts.pause(self._record(host), self._clock(), paused=True)

    def resume(self, host: str | None = None) -> None:
        if host is None:
            self._flowing.set()
        else:
            self._hosts.pause(self._record(host), self._clock(), paused=False)
            self._sleeper.wake()

    def set_delay(self, host: str, seconds: float) -> None:
        """Leave *seconds* between requests to *host* from now on; never less than its Crawl-delay."""
        if not seconds >= 0:
            raise ValueError(f"a delay must be 0 or more seconds, not {seconds!r}")
        self._record(host).delay = seconds

    def cut_off(self, reason: str) -> None:
        """Let nothing more be taken or admitted, and settle all that waits as refused."""
        if self._door.shut is not None:
            return
        self._door.shut = reason
        for host in list(self._hosts):
            self._settle_all(host, refused(reason))

    @property
    def idle(self) -> bool:
        return not self._ledger.pending

    @property
    def paused(self) -> bool:
        return not self._flowing.is_set()

    def counts(self) -> UrlCounts:
        return self._ledger.counts()

    def hosts(self, most: int = 20) -> list[HostFigures]:
        """Return the figures of the hosts with the most to do."""
        now = self._clock()
        busiest = heapq.nsmallest(
            most, self._hosts, key=lambda h: (-h.queued - h.in_flight, h.name)
        )
        return [self._hosts.figures(host, now) for host in busiest]

    def samples(self) -> dict[str, list[str]]:
        """Return the first few URLs that failed, were refused or turned away, by reason."""
        return {reason: list(urls) for reason, urls in self._ledger.samples.items()}

    def waiting_for(self) -> str:
        """Say in one line what keeps the next request from being taken."""
        now = self._clock()
        if self.idle:
            return "nothing: all is settled"
        if self.paused:
            return "resume(): the crawl is paused"
        if not self._hosts.queued:
            return f"{len(self._taken)} requests in flight or being analysed"
        due = self._hosts.first()
        if due is None:
            held = [host for host in self._hosts if host.queued and (host.paused or host.parked)]
            named = (f"{h.name} ({'paused' if h.paused else h.parked})" for h in held[:3])
            return ", ".join(named) or "a free downloader"
        when, name, why = due
        return f"{name} ({why or 'due'}), in {max(0.0, when - now):.1f} s"

    def resting(self) -> str:
        """Say why the host that is due first is not due yet; empty if one is, or none is to be."""
        now = self._clock()
        due = self._hosts.first()
        if due is None:
            return ""
        if now < self._free_at:
            return "bandwidth"
        host = self._hosts.find(due[1])
        if due[0] <= now or host is None:
            return ""
        return due[2] if due[2] == "address" else self._manners.why_resting(host)

    def next_wake(self) -> float | None:
        """Return the seconds until the next request is due; None if none waits for its time."""
        due = self._hosts.first()
        return None if due is None else max(0.0, due[0] - self._clock())

    def __len__(self) -> int:
        """How many requests wait."""
        return self._hosts.queued - len(self._nearness)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "paused" if self.paused else "open"
        return f"<Frontier {state}, {len(self)} waiting, {len(self._taken)} taken>"

    # -- admission --------------------------------------------------------------------------

    def _let_in(self, found: Request | Link, _within: str | None) -> None:
        if isinstance(found, Request):
            found = self._by_itself(found)
        self._ledger.admit()
        self._settled.clear()
        self._enter(found)

    def _turn_away(self, found: Request | Link, reason: str) -> None:
        self._ledger.turn_away(reason, found.url)
        if reason == "seen":
            self._move_up(found)

    def _by_itself(self, request: Request) -> Request:
        """Return *request* with an id no other has that is outstanding; copies share theirs."""
        if request.id in self._ids:
            request = request.replace(id=new_id())
        self._ids.add(request.id)
        return request

    def _move_up(self, again: Request | Link) -> None:
        nearer = self._nearness.nearer(again)
        if nearer is not None:
            self._enter(nearer)

    def _enter(self, found: Request | Link, *, first: bool = False) -> None:
        self._put(self._host_of(found.url), found, first=first)

    def _put(self, host: Host, found: Request | Link, *, first: bool = False) -> None:
        self._nearness.enter(found)
        self._hosts.put(host, found, self._clock(), first=first)
        self._sleeper.wake_before(host.due())

    def _host_of(self, url: str) -> Host:
        return self._host_named(self._name_of(url))

    def _host_named(self, name: str) -> Host:
        host = self._hosts.find(name)
        if host is None:
            host = self._hosts.known(name)
            if self._politeness.by_address:
                self._hosts.park(host, "address")
                self._addresses.look_up(host)
        return host

    def _record(self, name: str) -> Host:
        return self._hosts.known(self._shared(name.lower()))

    def _name_of(self, url: str) -> str:
        return self._shared(urls.host(url))

    def _shared(self, name: str) -> str:
        """Return the name of the record that the host *name* is kept in."""
        return urls.registered_domain(name) if self._politeness.share == "domain" else name

    def _unpark(self, host: Host) -> None:
        self._hosts.unpark(host, self._clock())
        self._sleeper.wake_before(host.due())

    # -- taking -----------------------------------------------------------------------------

    def _next(self, now: float) -> Request | None:
        if now < self._free_at:
            return None
        while host := self._hosts.ready(now):
            request = self._choose(host, now)
            if request is None:
                self._hosts.schedule(host, now)
                continue
            self._hosts.begin(host, now)
            self._taken[request.id] = host
            self._in_flight.add(request.id)
            return request
        return None

    def _choose(self, host: Host, now: float) -> Request | None:
        """Return the request to begin with *host*: what waits, or a question that comes first."""
        if host.questions:
            return host.questions.pop()
        while host.lane and not host.parked:
            request = self._hosts.pull(host)
            if self._nearness.leave(request):
                continue
            if self._politeness.robots:
                origin = urls.origin(request.url)
                rules = self._gate.rules(origin, now)
                if rules is None:
                    self._nearness.enter(request)
                    self._hosts.put(host, request, now, first=True)
                    self._hosts.park(host, "robots.txt")
                    return self._gate.ask(host, origin, request)
                self._obey(host, rules)
                if not rules.allowed(self._gate.agent, request.url):
                    self._drop(request, refused("robots"))
                    continue
            return self._counted(request)
        return None

    def _counted(self, request: Request) -> Request | None:
        """Let *request* count as a page, unless there have been enough."""
        if not (request.attempts or request.redirects):
            if self.budget.pages is not None and self._begun >= self.budget.pages:
                self._drop(request, refused("page_limit"))
                self.cut_off("page_limit")
                return None
            self._begun += 1
        return request

    def _sleep(self, now: float) -> None:
        due = self._hosts.first()
        self._sleeper.sleep(now, None if due is None else max(due[0], self._free_at))

    # -- after a fetch ----------------------------------------------------------------------

    def _follow_up(
        self, host: Host, request: Request, result: Response | ModuleError, now: float
    ) -> Next | Outcome:
        given_up = self._given_up(host)
        cause = result.__cause__ if isinstance(result, ModuleError) else None
        if isinstance(cause, Refusal):
            return refused(cause.reason)
        attempts = (*request.attempts, _told(result))
        if not (given_up or self._door.shut) and self._retries.worth_another(result, len(attempts)):
            wait = self._politeness.growing(self._retries.wait, len(attempts))
            least = cause.delay if isinstance(cause, Retry) else 0.0
            self._retry(host, request.replace(attempts=attempts), now, max(wait, least))
            return Next.AGAIN
        if isinstance(result, ModuleError):
            return failed(result.kind)
        if not is_redirect(result):
            return Next.ANALYZE
        hop = self._door.hop(request, result)
        if isinstance(hop, Outcome):
            return hop
        if self._name_of(hop.url) in self._dead:
            return failed("host")
        if result.status in PERMANENT and len(self.moved) < _MOST_MOVED:
            self.moved[request.url] = hop.url
        self._leave(request)
        self._go_on(hop.replace(attempts=()))
        return Next.AGAIN

    def _go_on(self, hop: Request) -> None:
        """Let a redirected request wait for the host it was sent to."""
        self._enter(hop, first=True)

    def _retry(self, host: Host, request: Request, now: float, wait: float) -> None:
        self.retried += 1
        self._leave(request)
        self._hosts.put_later(host, request, now + wait, now)
        self._sleeper.wake_before(host.due())

    def _answered(
        self, host: Host, request: Request, result: Response | ModuleError, now: float
    ) -> None:
        """Take the answer to a question about robots.txt, and let the host that waits for it go on."""
        self._leave(request)
        hop = self._gate.answered(request, result, now)
        if hop is not None:
            target = self._host_of(hop.url)
            self._hosts.ask(target, hop, now)
            self._sleeper.wake_before(target.due())
            return
        question = self._gate.close(request)
        asker = question.host
        rules = self._gate.rules(question.origin, now)
        if rules is None:
            self._manners.no_robots(asker, host, result, now)
            self._given_up(asker)
        else:
            self._obey(asker, rules)
            self._hosts.rest(asker, now, self._hosts.pause_of(asker), "delay")
        self._unpark(asker)

    def _obey(self, host: Host, rules: Robots) -> None:
        """Keep the Crawl-delay of an origin; where a host has several, the longest counts."""
        delay = rules.crawl_delay(self._gate.agent)
        if delay is not None:
            host.crawl_delay = max(delay, host.crawl_delay or 0.0)

    def _given_up(self, host: Host) -> bool:
        """Give up a host that has failed too often in a row: each request for it gets its record."""
        if not self._manners.is_hopeless(host):
            return False
        log.warning("gave up %s after %d failures in a row", host.name, host.failures)
        self._dead.add(host.name)
        self._settle_all(host, failed("host"))
        return True

    def _weigh(self, size: int, now: float) -> None:
        self._bytes += size
        if self.budget.bandwidth is not None:
            self._free_at = max(self._free_at, now) + size / self.budget.bandwidth
        self._check_budget()

    def _check_budget(self) -> None:
        if self.budget.bytes is not None and self._bytes >= self.budget.bytes:
            self.cut_off("byte_limit")
        if self.budget.errors is not None and self._ledger.failed.total() >= self.budget.errors:
            self.cut_off("error_limit")

    # -- accounting -------------------------------------------------------------------------

    def _leave(self, request: Request) -> Host:
        host = self._taken.pop(request.id, None)
        if host is None:
            raise ValueError(f"{request} is not taken: a request is settled once")
        if request.id in self._in_flight:
            self._in_flight.remove(request.id)
            self._hosts.end(host, self._clock())
            self._wake_after(host)
        return host

    def _wake_after(self, host: Host) -> None:
        """Let whoever takes look again: *host* may be due, or others that share its address."""
        if host.address is not None:
            self._sleeper.wake()
        else:
            self._sleeper.wake_before(host.due())

    def _settle_all(self, host: Host, outcome: Outcome) -> None:
        for request in self._hosts.drain(host, self._clock()):
            if not self._nearness.leave(request):
                self._drop(request, outcome)

    def _drop(self, request: Request, outcome: Outcome) -> None:
        self._ids.discard(request.id)
        self._end(request, outcome)
        self.on_drop(request, outcome)

    def _end(self, request: Request, outcome: Outcome) -> None:
        self._ledger.settle(outcome, request.redirects[0] if request.redirects else request.url)
        if outcome.status == "failed" and self.budget.errors is not None:
            self._check_budget()
        if not self._ledger.pending:
            self._settled.set()


def _told(result: Response | ModuleError) -> str:
    return f"status {result.status}" if isinstance(result, Response) else result.reason


def _ignore(_request: Request, _outcome: Outcome) -> None:
    pass
