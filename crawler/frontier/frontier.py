"""Frontier: admit · take · settle · join, in memory."""

from __future__ import annotations

import heapq
import itertools
import logging

from gevent import Timeout
from gevent.event import Event
from gevent.lock import Semaphore

from ..data import Request, Response, new_id
from ..errors import FrontierClosed, InvalidURL
from ..url import canonicalize
from .outcome import Ledger, Outcome, UrlCounts, failed, refused
from .redirect import next_hop
from .scope import Scope
from .seen import ExactSeen, fingerprint

log = logging.getLogger(__name__)

#: How many redirects one request may take.
MAX_REDIRECTS = 10


class Frontier:
    """
    Every request that has been admitted and is not settled, each in one of two states:

    - waiting: on the heap, by priority, then depth, then age;
    - taken: between take() and settle(), redirect() or put_back().

    Admitting never blocks. A URL found again nearer to the start while it waits moves
    up, so that what a depth limit lets in does not depend on who answered first.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.closed = False
        self._seen = ExactSeen()
        self._ledger = Ledger()
        self._taken: set[str] = set()
        self._heap: list[tuple[int, int, int, bytes, Request]] = []
        #: By fingerprint, the waiting request as it now stands; other heap entries are stale.
        self._waiting: dict[bytes, Request] = {}
        self._ages = itertools.count()
        self._ready = Semaphore(0)
        self._flowing = Event()
        self._flowing.set()
        self._settled = Event()
        self._settled.set()

    def admit(self, request: Request) -> str | None:
        """Let *request* in, or return the reason why not."""
        reason, key = self._judge(request)
        if reason is not None:
            self._ledger.turned_away[reason] += 1
            log.debug("turned away (%s): %s", reason, request)
            return reason
        self._ledger.admit()
        self._settled.clear()
        if request.dont_filter:
            # The same request may be let in twice; each is outstanding by itself.
            request = request.replace(id=new_id())
            key = request.id.encode()
        self._wait(key, request)
        return None

    def take(self) -> Request:
        """Return the next request, waiting for one; raise FrontierClosed when closed."""
        while True:
            self._flowing.wait()
            self._ready.acquire()
            if self.closed:
                self._ready.release()
                raise FrontierClosed("the frontier is closed")
            if self._flowing.is_set():
                return self._pop()
            self._ready.release()

    def settle(self, request: Request, outcome: Outcome) -> None:
        """End *request*, which must be taken, for good."""
        self._leave(request)
        self._ledger.settle(outcome)
        if not self._ledger.pending:
            self._settled.set()

    def put_back(self, request: Request) -> None:
        """Return a taken *request* to the ones that wait, past admission."""
        self._leave(request)
        self._wait(request.id.encode(), request)

    def redirect(self, request: Request, response: Response) -> Outcome | None:
        """Queue the next hop of a taken *request*; or return the outcome that ends it here."""
        if len(request.redirects) >= MAX_REDIRECTS:
            return failed("redirect_limit")
        try:
            hop = next_hop(request, response)
            url = canonicalize(hop.url)
        except InvalidURL:
            return refused("invalid")
        # A form often answers with a redirect to itself, to be fetched by GET.
        if hop.method == request.method and url in map(canonicalize, hop.redirects):
            return failed("redirect_loop")
        reason = self.scope.refusal(url, hop.depth)
        key = fingerprint(hop, url)
        if reason is None and not self._seen.add(key) and not hop.dont_filter:
            reason = "seen"
        if reason is not None:
            return refused(reason)
        self._leave(hop)
        self._wait(hop.id.encode() if hop.dont_filter else key, hop)
        return None

    def join(self, timeout: float | None = None) -> bool:
        """Wait until nothing is outstanding, or the frontier is closed; say if nothing is."""
        with Timeout(timeout, False):  # type: ignore[arg-type]  # the stubs do not know False
            # Something may have been admitted since it was settled that nothing is left.
            while not (self.idle or self.closed):
                self._settled.wait()
        return self.idle

    @property
    def idle(self) -> bool:
        return not self._ledger.pending

    @property
    def paused(self) -> bool:
        return not self._flowing.is_set()

    def pause(self) -> None:
        """Let nothing be taken until resume()."""
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    def close(self) -> None:
        """Wake whoever waits; what is outstanding stays counted as pending."""
        self.closed = True
        self._flowing.set()
        self._ready.release()
        self._settled.set()

    def counts(self) -> UrlCounts:
        return self._ledger.counts()

    def __len__(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "paused" if self.paused else "open"
        return f"<Frontier {state}, {len(self)} waiting, {len(self._taken)} taken>"

    def _judge(self, request: Request) -> tuple[str | None, bytes]:
        try:
            url = canonicalize(request.url)
        except InvalidURL:
            return "invalid", b""
        reason = self.scope.refusal(url, request.depth)
        if reason is not None:
            return reason, b""
        key = fingerprint(request, url)
        if not self._seen.add(key) and not request.dont_filter:
            self._move_up(key, request)
            return "seen", key
        return None, key

    def _move_up(self, key: bytes, again: Request) -> None:
        known = self._waiting.get(key)
        if known is not None and again.depth < known.depth:
            nearer = known.replace(depth=again.depth, found_on=again.found_on)
            self._push(key, nearer)

    def _wait(self, key: bytes, request: Request) -> None:
        self._push(key, request)
        self._ready.release()

    def _push(self, key: bytes, request: Request) -> None:
        self._waiting[key] = request
        entry = (-request.priority, request.depth, next(self._ages), key, request)
        heapq.heappush(self._heap, entry)

    def _pop(self) -> Request:
        while True:
            *_, key, request = heapq.heappop(self._heap)
            if self._waiting.get(key) is request:
                del self._waiting[key]
                self._taken.add(request.id)
                return request

    def _leave(self, request: Request) -> None:
        if request.id not in self._taken:
            raise ValueError(f"{request} is not taken: a request is settled once")
        self._taken.remove(request.id)
