"""Frontier: admit · take · fetched · settle · join."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

import gevent
from gevent.event import Event

from .. import url as urls
from ..data import Link, Links, Request, Response, new_id
from ..errors import FrontierClosed, ModuleError
from .admission.admission import Admission
from .admission.link_filter import LinkFilter
from .admission.scope import Scope
from .admission.seen import BloomSeen, Seen
from .admission.traps import TrapGuard
from .after_fetch import AfterFetch, Hop, Next, RetryLater
from .budget import Budget, Spending
from .hosts.backoff import Backoff
from .hosts.host import Host, HostFigures
from .hosts.host_queues import HostQueues
from .hosts.host_schedule import HostSchedule
from .hosts.nearest_depth import NearestDepth
from .hosts.politeness import Politeness
from .hosts.robots_cache import RobotsCache
from .outcome import Ledger, Outcome, UrlCounts, failed, refused
from .retries import HOST_KINDS, Retries
from .view import FrontierView

log = logging.getLogger(__name__)


class Frontier:
    """
    Every request that has been admitted and is not settled, each in one of three states:

    - waiting: in the queue of its host, until the host is due and the request its next;
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
        #: Whether it goes on with what an earlier one has left.
        self.resumed = False
        #: Told of each request that is settled here, without having been taken or fetched again.
        self.on_drop: Callable[[Request, Outcome], object] = _ignore
        #: Told of each request that failed because its robots.txt could not be had, and why.
        self.on_failure: Callable[[Request, ModuleError], object] = _ignore
        self.budget = budget or Budget()
        self._politeness = politeness or Politeness()
        self._clock = clock
        self._ledger = ledger or Ledger()
        self._spending = Spending(self.budget, self._ledger)
        self._admission = Admission(
            scope, BloomSeen() if seen is None else seen, traps or TrapGuard()
        )
        self._hosts = HostSchedule(self._politeness)
        self._backoff = Backoff(self._politeness, self._hosts)
        nearest = NearestDepth(matters=scope.max_depth is not None)
        self._links = LinkFilter(
            scope.max_depth, self._ledger.turned_away, self._admission.seen, nearest.depth_of
        )
        self._waiting = HostQueues(self._politeness, self._hosts, nearest, clock)
        self._view = FrontierView(self._hosts, self._backoff, self._spending, clock)
        self._robots = RobotsCache(agent)
        self._dead = self._waiting.dead
        self._retries = retries or Retries()
        self._after_fetch = AfterFetch(
            self._admission, self._retries, self._politeness, self._waiting.is_dead
        )
        #: Where pages have gone for good, as far as there is room to remember.
        self.moved = self._after_fetch.moved
        #: The ids of the requests that were admitted as such, and not as links.
        self._ids: set[str] = set()
        #: By id, the host of each request between take() and settle().
        self._taken: dict[str, Host] = {}
        #: The ids of those whose fetch has not ended.
        self._in_flight: set[str] = set()
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
        reason = self._admission.refusal(found)
        if reason is None and self._dead and self._waiting.is_dead(found.url):
            reason = "host"
        if isinstance(found, Link):
            self._links.add(found, reason)
        if reason is None:
            self._let_in(found, within)
        else:
            self._turn_away(found, reason, within)
        return reason

    def admit_many(self, links: Links) -> None:
        """Let in those of a page's *links* that are new and in scope; count the others."""
        for link in self._links.unknown(links):
            self.admit(link)

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
            self._waiting.sleep(now, self._spending.free_at)

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
        self._backoff.fetched(host, result, now)
        self._waiting.wake_after(host)
        if self._robots.is_question(request):
            self._answered(host, request, result, now)
            return Next.AGAIN
        if isinstance(result, Response) and "cached" not in result.flags:
            self._spending.weigh(len(result.body), now)
            self._check_budget()
        return self._follow_up(host, request, result, now)

    def is_question(self, request: Request) -> bool:
        """Say if *request* was not admitted but asks for a robots.txt."""
        return self._robots.is_question(request)

    def settle(self, request: Request, outcome: Outcome) -> None:
        """End *request*, which must be taken, for good."""
        if self._robots.is_question(request):
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
        if self._robots.is_question(request):
            self._waiting.unpark(self._robots.close(request).host)
        elif self._admission.shut is not None:
            self._drop(request, refused(self._admission.shut))
        else:
            self._spending.take_back(request)
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
        self.on_drop = self.on_failure = _ignore
        self._flowing.set()
        self._waiting.close()
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
            self._hosts.pause(self._waiting.record(host), self._clock(), paused=True)

    def resume(self, host: str | None = None) -> None:
        if host is None:
            self._flowing.set()
        else:
            self._hosts.pause(self._waiting.record(host), self._clock(), paused=False)
            self._waiting.wake()

    def set_delay(self, host: str, seconds: float) -> None:
        """Leave *seconds* between requests to *host* from now on; never less than its Crawl-delay."""
        if not seconds >= 0:
            raise ValueError(f"a delay must be 0 or more seconds, not {seconds!r}")
        self._waiting.record(host).delay = seconds

    def cut_off(self, reason: str) -> None:
        """Let nothing more be taken or admitted, and settle all that waits as refused."""
        if self._admission.shut is not None:
            return
        self._admission.shut = reason
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
        return self._view.busiest(most)

    def samples(self) -> dict[str, list[str]]:
        """Return the first few URLs that failed, were refused or turned away, by reason."""
        return {reason: list(urls) for reason, urls in self._ledger.samples.items()}

    def waiting_for(self) -> str:
        """Say in one line what keeps the next request from being taken."""
        if self.idle:
            return "nothing: all is settled"
        if self.paused:
            return "resume(): the crawl is paused"
        if not self._hosts.queued:
            return f"{len(self._taken)} requests in flight or being analysed"
        return self._view.waiting_for()

    def resting(self) -> str:
        """Say why the host that is due first is not due yet; empty if one is, or none is to be."""
        return self._view.resting()

    def next_wake(self) -> float | None:
        """Return the seconds until the next request is due; None if none waits for its time."""
        return self._view.next_wake()

    def __len__(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

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

    def _turn_away(self, found: Request | Link, reason: str, _within: str | None) -> None:
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
        nearer = self._waiting.nearer(again)
        if nearer is not None:
            self._enter(nearer)

    def _enter(self, found: Request | Link, *, first: bool = False) -> None:
        self._put(self._waiting.host_of(found.url), found, first=first)

    def _put(self, host: Host, found: Request | Link, *, first: bool = False) -> None:
        self._waiting.put(host, found, first=first)

    # -- taking -----------------------------------------------------------------------------

    def _next(self, now: float) -> Request | None:
        if now < self._spending.free_at:
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
        if host.robots_requests:
            return host.robots_requests.pop()
        while (request := self._waiting.pull(host)) is not None:
            if self._politeness.robots:
                allowed = self._robots.allows(host, request, now)
                if allowed is None:
                    return self._ask_first(host, request)
                if not allowed:
                    self._drop(request, refused("robots"))
                    continue
            if self._spending.begin(request):
                return request
            self._drop(request, refused("page_limit"))
            self.cut_off("page_limit")
        return None

    def _ask_first(self, host: Host, request: Request) -> Request:
        """Return the question that *request*, and all else that waits for *host*, must wait for."""
        self._waiting.put(host, request, first=True)
        self._hosts.park(host, "robots.txt")
        return self._robots.ask(host, urls.origin(request.url), request)

    # -- after a fetch ----------------------------------------------------------------------

    def _follow_up(
        self, host: Host, request: Request, result: Response | ModuleError, now: float
    ) -> Next | Outcome:
        given_up = self._given_up(host)
        sequel = self._after_fetch.after(request, result, is_last=given_up)
        if isinstance(sequel, Hop):
            self._leave(request)
            self._go_on(sequel.request)
            return Next.AGAIN
        if isinstance(sequel, RetryLater):
            self._leave(request)
            self._retry(host, sequel, now)
            return Next.AGAIN
        return sequel

    def _go_on(self, hop: Request) -> None:
        """Let a redirected request wait for the host it was sent to."""
        self._enter(hop, first=True)

    def _retry(self, host: Host, later: RetryLater, now: float) -> None:
        self.retried += 1
        self._waiting.put_later(host, later.request, now + later.wait, now)

    def _answered(
        self, host: Host, request: Request, result: Response | ModuleError, now: float
    ) -> None:
        """Take the answer to a question about robots.txt, and let the host that waits for it go on."""
        self._leave(request)
        hop = self._robots.answered(request, result, now)
        if hop is not None:
            self._waiting.ask(hop, now)
            return
        question = self._robots.close(request)
        asker = question.host
        rules = self._robots.rules(question.origin, now)
        if rules is None:
            self._backoff.no_robots(asker, host, result, now)
            self._given_up(asker)
        else:
            self._robots.obey(asker, rules)
            self._hosts.rest(asker, now, self._hosts.pause_of(asker), "delay")
        self._waiting.unpark(asker)
        if rules is None and isinstance(result, ModuleError) and result.kind in HOST_KINDS:
            self._hold_against_first(asker, result)

    def _hold_against_first(self, host: Host, error: ModuleError) -> None:
        """
        Count it as an attempt of the first that waits that its host could not be reached.

        It would have fared no better, and somebody may be waiting to hear what is wrong.
        """
        request = self._waiting.pull(host)
        if request is None:
            return
        attempts = (*request.attempts, f"robots.txt: {error.reason}")
        if self._retries.worth_another(error, len(attempts)):
            self._put(host, request.replace(attempts=attempts), first=True)
            return
        self.on_failure(request, error)
        self._drop(request, failed(error.kind))

    def _given_up(self, host: Host) -> bool:
        """Give up a host that has failed too often in a row: each request for it gets its record."""
        if not self._backoff.is_hopeless(host):
            return False
        log.warning("gave up %s after %d failures in a row", host.name, host.failures)
        self._dead.add(host.name)
        self._settle_all(host, failed("host"))
        return True

    def _check_budget(self) -> None:
        reason = self._spending.used_up
        if reason is not None:
            self.cut_off(reason)

    # -- accounting -------------------------------------------------------------------------

    def _leave(self, request: Request) -> Host:
        host = self._taken.pop(request.id, None)
        if host is None:
            raise ValueError(f"{request} is not taken: a request is settled once")
        if request.id in self._in_flight:
            self._in_flight.remove(request.id)
            self._hosts.end(host, self._clock())
            self._waiting.wake_after(host)
        return host

    def _settle_all(self, host: Host, outcome: Outcome) -> None:
        for request in self._waiting.drain(host):
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


def _ignore(_request: Request, _what: Outcome | ModuleError) -> None:
    pass
