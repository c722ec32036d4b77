"""ClusterJournal: the decisions of one shard's frontier, as rows of its next batch."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from .. import url as urls
from ..data import Link, Request
from ..errors import InvalidURL
from ..frontier import Fingerprint, Outcome, TrapGuard, UrlCounts, refused
from ..frontier.admission.seen import Seen, make_seen
from ..frontier.budget import CUT_OFF
from ..frontier.durable.awaited import AwaitedRequests
from ..frontier.durable.batch import Step
from ..frontier.durable.crash_marker import CrashMarker
from ..frontier.durable.group_commit import NoOutputs, Outputs
from ..frontier.durable.journal import NearerFind, PageEnd, Restored
from ..frontier.durable.rows import key_of
from ..frontier.hosts.host import HostFacts
from ..frontier.hosts.robots_cache import RobotsFacts
from ..frontier.ledger import Ledger
from ..frontier.outcome import MOVED
from ..http.set_cookie import Cookie
from ..serialization import request_to_dict
from .batch import ShardBatch, check_counts
from .blob import as_text
from .fold import Row, ShardState, admitted, request_of, robots_body, robots_row, waits_again
from .shards import SentLinks, ShardMap
from .short_seen import SHORT, ShortSeen, split
from .spilled_queues import WINDOW, SpilledQueues
from .strikes import ShardMarks, Strike, Strikes

#: The numbers of a shard's requests start at this times the number of the shard plus 1: no two
#: requests of a process have the same id.
_NUMBERS = 1 << 40
#: How many keys the filter of a shard has room for at least; it grows.
_LEAST = 50_000
_CRAWL_DELAY = re.compile(rb"(?im)^[ \t]*crawl-delay[ \t]*:[ \t]*([0-9]{1,6}(?:\.[0-9]{1,6})?)")
#: The most seconds of a Crawl-delay that a host rests first in a shard that was loaded.
_LONGEST_DELAY = 300.0
#: Figures of the frontier that are among the counts, or never change.
_NEEDLESS = ("scope", "turned_away", "found_nearer")
#: The reason of a fetch for a callback that leads to a host of another shard.
OTHER_SHARD = "other_shard"


class ClusterJournal:
    """
    Implements Journal for one shard.

    What the frontier decides, what its pages have produced, and what goes to other shards is
    gathered in *batch*. Nothing leaves a batch except with its shard: after drop(), nothing
    that is recorded here is ever sent. *on_change* is called when there is something to commit,
    with the size of the page that has ended, if one has.
    """

    def __init__(
        self,
        shard: int,
        shards: ShardMap,
        state: ShardState,
        counts: dict[str, Any],
        *,
        fingerprint: Fingerprint,
        now: Callable[[], float],
        outputs: Outputs | None = None,
        on_change: Callable[[int], object] = bool,
        wait: Callable[[], object] = bool,
        least_rest: float = 0.0,
        duplicate_filter: str = "bloom",
        marker: CrashMarker | None = None,
        window: int = WINDOW,
    ) -> None:
        self.shard = shard
        self.batch = ShardBatch()
        self._sent = SentLinks()
        self._shards = shards
        self._state = state
        self._counts = counts
        self._fingerprint = fingerprint
        #: Redis' time.
        self._now = now
        self._outputs: Outputs = NoOutputs() if outputs is None else outputs
        self._on_change = on_change
        self._wait = wait
        self._least_rest = least_rest
        self._duplicate_filter = duplicate_filter
        self.awaited = AwaitedRequests()
        self.overflow = SpilledQueues(state.pending.values(), self.awaited, window)
        self.strikes = Strikes(state.strikes)
        self.marks = ShardMarks(shard, marker)
        self._figures: dict[str, Callable[[], Any]] = {}
        self._next = max(state.last + 1, (shard + 1) * _NUMBERS)

    def figures(self) -> dict[str, Any]:
        """Return the counts of the shard, absolute, as the next holder needs them."""
        found = {name: figures() for name, figures in self._figures.items()}
        for name in _NEEDLESS:
            found.get("frontier", {}).pop(name, None)
        return found

    def seal(self) -> ShardBatch:
        """Return the batch, and begin the next one."""
        batch, self.batch = self.batch, ShardBatch()
        return batch

    def drop(self) -> None:
        """Send nothing any more."""
        self.batch = ShardBatch()
        self._on_change = bool

    def read(self, entry: str, size: int) -> None:
        """Note that an *entry* of the inbox was read; it must be committed even if it had nothing new."""
        self.batch.read(entry, size)
        self._on_change(0)

    def send(self, target: int, what: Any) -> None:
        """Put *what* into the inbox of the shard *target*, with the next batch."""
        self.batch.outbox.setdefault(target, []).append(what)
        self._on_change(0)

    # -- Journal ------------------------------------------------------------------------------

    def restore(self, traps: TrapGuard, _fingerprint: Fingerprint) -> Restored:
        state = self._state
        for name, pages in state.pages.items():
            traps.count_pages(name, pages)
        for url, depth, found_on in state.recent:
            traps.count(url, depth, found_on)
        seen, now = self._seen(), self._now()
        return Restored(
            self._fingerprint,
            ledger=_ledger(self._counts.get("counts"), len(state.pending), self.shard),
            seen=seen,
            figures=self._counts.get("frontier") or {},
            hosts=list(self._host_facts(now)),
            robots=[
                RobotsFacts(origin, row[2] - now, robots_body(row))
                for origin, row in state.robots.items()
                if row[2] > now
            ],
        )

    def turned_away_before(self) -> Iterable[tuple[Link, str]]:
        return ()

    def include(self, name: str, figures: Callable[[], Any]) -> None:
        self._figures[name] = figures

    def admitted(
        self, found: Request | Link, _key: bytes, host: str, awaited_by: str | None
    ) -> Request:
        if isinstance(found, Link):
            return self._admitted_link(found)
        if awaited_by is not None:
            self.awaited.add(found, awaited_by, host)
            if awaited_by == found.id:  # its page is in another shard, and ends by itself
                self.awaited.page_ended(awaited_by)
            return found
        number, self._next = self._next, self._next + 1
        request = found.replace(id=f"{number:x}")
        self._add(admitted(number, request))
        return request

    def _admitted_link(self, link: Link) -> Request:
        number, self._next = self._next, self._next + 1
        self._add(["a", number, link.url, link.depth, 0, link.found_on, None])
        return Request(link.url, depth=link.depth, found_on=link.found_on, id=f"{number:x}")

    def turned_away(self, found: Request | Link, reason: str, host: str) -> None:
        """Do nothing: the counts have it."""

    def cut_off(self, found: Request | Link, reason: str, host: str) -> None:
        """Do nothing: the counts have it."""

    def found_nearer(self, request: Request, _host: str) -> None:
        self._add(["m", _number(request), request.depth, request.found_on])

    def sends(self, found: Request | Link, url: str) -> bool:
        target = self._shards.of(url)
        if target is None or target == self.shard:
            return False
        if isinstance(found, Request):
            self.send(target, {"request": request_to_dict(found)})
        elif self._sent.add(url, found.depth):
            if not self.batch.links:
                self._on_change(0)
            self.batch.send_link(target, found)
        return True

    def moves(self, hop: Request) -> Outcome | None:
        target = self._shards.of(hop.url)
        if target is None or target == self.shard:
            return None
        if hop.id in self.awaited:
            return refused(OTHER_SHARD)
        self._add(["e", _number(hop)])
        self.send(target, {"hop": request_to_dict(hop)})
        return MOVED

    def waits_again(self, request: Request) -> None:
        if request.id not in self.awaited:
            self._outputs.collect(request.id)
            self._add(waits_again(_number(request), request))

    def put_back(self, request: Request) -> None:
        self.awaited.page_put_back(request.id)
        self._outputs.discard(request.id)

    def ended(self, end: PageEnd) -> None:
        request, outcome = end.request, end.outcome
        entry = _log_entry(end, self._outputs.collect(request.id))
        if request.id not in self.awaited:
            size = sum(self.batch.add_end(s.output) for s in self.awaited.page_ended(request.id))
            self.batch.rows.append(["e", _number(request)])
            self._on_change(size + self.batch.add_end(entry))
        elif self.awaited.is_useless(request.id) or (
            outcome.status == "refused" and outcome.reason in CUT_OFF
        ):
            self.awaited.remove(request.id)
        elif not self.awaited.end(request.id, Step(output=entry)):
            self.batch.add_end(entry)
            self._on_change(0)

    def fetched_aside(self, request: Request) -> None:
        self._outputs.discard(request.id)

    def learned(self, facts: HostFacts | RobotsFacts | NearerFind) -> None:
        if isinstance(facts, RobotsFacts):
            self._add(robots_row(facts.origin, self._now() + facts.seconds, facts.body))
        elif isinstance(facts, HostFacts):
            until = self._now() + facts.seconds
            self._add(["h", facts.name, facts.failures, until, facts.why])

    def wait_for_room(self) -> None:
        self._wait()

    def finish(self) -> None:
        self.overflow.close()

    def struck(self, strike: Strike) -> None:
        """Count it against a page that a process ended, or was stuck, while it analysed it."""
        strikes = self.strikes.add(strike.mark, is_alone=strike.is_alone)
        self._add(["k", strike.mark, strikes])

    # -- cookies ------------------------------------------------------------------------------

    @property
    def cookies(self) -> Iterable[tuple[str, Cookie]]:
        """The cookies that the hosts of the shard have set, each with its session."""
        return [(row[1], Cookie.from_values(row[2])) for row in self._state.cookies.values()]

    def set_cookie(self, session: str, cookie: Cookie) -> None:
        """Keep a *cookie* that a host of the shard has set, for its next holder too."""
        is_deleted = cookie.expires <= time.time()
        kept = replace(cookie, expires=0.0) if is_deleted else cookie
        row = ["c", session, kept.to_values()]
        if self._state.set_cookie(row):
            self._add(row)

    # -- inside -------------------------------------------------------------------------------

    def _add(self, row: list[Any]) -> None:
        if not self.batch.rows:
            self._on_change(0)
        self.batch.rows.append(row)

    def _seen(self) -> Seen:
        """Return a filter with all that was seen; the state needs it no more."""
        keys, self._state.seen = bytes(self._state.seen), bytearray()
        room = max(len(keys) // SHORT * 2, _LEAST)
        seen = ShortSeen(make_seen(self._duplicate_filter, room))
        seen.update(split(keys))
        return seen

    def _host_facts(self, now: float) -> Iterable[HostFacts]:
        """Yield what is known of hosts; one with requests rests first, as after a request of ours."""
        rests = {urls.host(row[2]): self._least_rest for row in self._state.pending.values()}
        for origin, row in self._state.robots.items():
            name = urls.host(origin)
            if name in rests:
                rests[name] = max(rests[name], _crawl_delay(robots_body(row)))
        for name, row in self._state.hosts.items():
            yield HostFacts(name, row[2], max(row[3] - now, rests.pop(name, 0.0)), row[4])
        for name, seconds in rests.items():
            if seconds:
                yield HostFacts(name, 0, seconds, "delay")


def keys_by(fingerprint: Fingerprint) -> Callable[[Row], bytes]:
    """Return a function for fold(): the short key of the request in a row, at the URL where it is now."""

    def key(row: Row) -> bytes:
        if row[6] is None:
            with suppress(InvalidURL):
                return fingerprint.of(urls.canonicalize(row[2]))[:SHORT]
        return key_of(request_of(row).replace(redirects=()), fingerprint)[:SHORT]

    return key


def _crawl_delay(robots: bytes) -> float:
    """Return the longest Crawl-delay of a robots.txt, for whichever crawler it is meant."""
    found = [float(seconds) for seconds in _CRAWL_DELAY.findall(robots)]
    return min(max(found, default=0.0), _LONGEST_DELAY)


def _number(request: Request) -> int:
    return int(request.id, 16)


def _ledger(counts: dict[str, Any] | None, pending: int, shard: int) -> Ledger:
    """Return the ledger that continues *counts*, which must agree with what is outstanding."""
    ledger = Ledger()
    known = UrlCounts(**counts) if counts else UrlCounts()
    check_counts(shard, asdict(known), pending)
    ledger.admitted, ledger.done, ledger.pending = known.admitted, known.done, known.pending
    ledger.failed.update(known.failed)
    ledger.refused.update(known.refused)
    ledger.turned_away.update(known.turned_away)
    ledger.found_nearer = known.found_nearer
    return ledger


def _log_entry(end: PageEnd, product: Any) -> str:
    """Return what the collector gets: the request, its end, and its records."""
    request, outcome = end.request, end.outcome
    return as_text(
        [
            request_to_dict(request),
            [outcome.status, outcome.reason, outcome.detail],
            list(end.answer or ()),
            product.records if product is not None else [],
        ]
    )
