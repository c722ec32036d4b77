"""DurableFrontier: the same contract, with every step in a store."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cached_property
from typing import Any

from ...data import Link, Request, Response, new_id
from ...errors import InvalidURL, JobError, ModuleError
from ..admission.link_filter import OUT_OF_SCOPE
from ..admission.scope import Scope
from ..admission.traps import TrapGuard
from ..after_fetch import Next, RetryLater
from ..frontier import Frontier
from ..hosts.host import Host
from ..outcome import Outcome, failed, refused
from . import rows
from .overflow import WINDOW, Overflow
from .recovery import CUT_OFF, recover
from .store import Store

_TURNED_AWAY = "turned_away"
#: Instead of the id of a page that has gone back to those that wait.
_NONE = ""
#: How many URLs that were turned away are remembered by name, to be quick.
_MOST_TOLD = 50_000


class DurableFrontier(Frontier):
    """
    A frontier that can be left at any moment and gone on with by the next process.

    A URL is written with its admission, and again with its outcome; until that is written
    it is outstanding for whoever opens the store next. Ids of requests are the numbers of
    their rows. Beyond a *window*, what waits is in the store only: see Overflow.

    The store's *on_settle* is called with the id of each request just before its outcome is
    told, so that what is written then belongs to the same moment; *on_put_back* with
    that of one which will be fetched anew.
    """

    def __init__(
        self, store: Store, scope: Scope, *, traps: TrapGuard, window: int = WINDOW, **options: Any
    ) -> None:
        self.recovered = store.recovered = recover(store, traps, window=window)
        super().__init__(
            scope,
            seen=self.recovered.seen,
            traps=traps,
            ledger=self.recovered.ledger,
            **options,
        )
        self._store = store
        self._told = self.recovered.told
        self._told_lately: set[str] = set()
        #: By id, code, size and seconds of the response that is being analysed.
        self._answers: dict[str, tuple[int, int, float]] = {}
        #: By the id of what a callback waits for, that of the page it is called with.
        self._within: dict[str, str] = {}
        #: By the id of a page, the rows of what its callback has waited for.
        self._held: dict[str, list[tuple[tuple[Any, ...], tuple[Any, ...]]]] = {}
        self._overflow = Overflow(store, self, window)
        self._least = rows.number(new_id())
        self._go_on_from_there()

    def _go_on_from_there(self) -> None:
        found, figures = self.recovered, self.recovered.figures
        self.resumed = bool(found.ledger.admitted)
        self.retried = figures.get("retried", 0)
        self._spending.begun = figures.get("begun", 0)
        self._spending.bytes = figures.get("bytes", 0)
        if found.ledger.pending:
            self._settled.clear()
        self._recall_hosts()
        for row in found.waiting:
            self._overflow.take_in(row)
        for name, size in found.by_host.items():
            self._overflow.open(self._waiting.host_named(name), size)
        found.waiting.clear()
        self._store.facts["frontier"] = self._figures
        self._robots.on_answer = self._tell_robots
        same_scope = figures.get("scope", self._rules) == self._rules
        if self.resumed:
            self._links.resume(same_scope=same_scope)
        if not same_scope:
            self._reconsider()

    @cached_property
    def _rules(self) -> str:
        """What belongs to the crawl, as one text."""
        scope = self._admission.scope
        domains = sorted({*scope.accepted_domains, *scope.own_domains})
        return repr((domains, scope.max_depth, scope.max_url_length, scope.include, scope.exclude))

    def _reconsider(self) -> None:
        """Let in what was turned away for reasons that do not hold any more."""
        away = "SELECT url, depth, found_on, reason FROM urls WHERE status = ?"
        for url, depth, found_on, reason in list(self._store.rows(away, _TURNED_AWAY)):
            if reason in OUT_OF_SCOPE:
                self._ledger.turned_away[reason] -= 1
                self.admit(Link(url, depth, found_on))
        counts = self._ledger.turned_away
        for reason in [reason for reason, number in counts.items() if number <= 0]:
            del counts[reason]

    # -- the contract -----------------------------------------------------------------------

    def take(self) -> Request:
        self._store.wait_for_room()
        return super().take()

    def fetched(self, request: Request, result: Response | ModuleError) -> Next | Outcome:
        host = self._taken.get(request.id)
        failures = host.failures if host is not None else 0
        after = super().fetched(request, result)
        if host is not None and host.failures != failures:
            self._tell_host(host)
        if isinstance(result, Response) and after is not Next.AGAIN:
            self._answers[request.id] = (result.status, len(result.body), result.elapsed)
        return after

    def put_back(self, request: Request) -> None:
        self._answers.pop(request.id, None)
        for insert, _ in self._held.pop(request.id, ()):
            self._store.on_put_back(f"{insert[0]:x}")
        for awaited, page in self._within.items():
            if page == request.id:
                self._within[awaited] = _NONE
        self._store.on_put_back(request.id)
        super().put_back(request)

    def begin_analysis(self, request: Request) -> None:
        self._store.pulse.running = rows.number_of(request)

    def end_analysis(self) -> None:
        self._store.pulse.running = 0

    def close(self) -> None:
        super().close()
        self._overflow.close()
        with suppress(JobError):  # whoever owns the store is told of it
            self._store.flush()

    def __len__(self) -> int:
        return super().__len__() + self._overflow.size

    # -- what is written ----------------------------------------------------------------------

    def _let_in(self, found: Request | Link, within: str | None) -> None:
        request = _plain(found) if isinstance(found, Link) else self._by_itself(found)
        host = self._waiting.host_of(request.url)
        if within is None:
            plain = isinstance(found, Link)
            row = rows.inserted(request, host.name, self._admission.key, plain=plain)
            self._store.batch.inserts.append(row)
            self._store.changed()
        else:
            self._within[request.id] = within
        self._ledger.admit()
        self._settled.clear()
        self._put(host, request)

    def _by_itself(self, request: Request) -> Request:
        """Return *request* with an id that can be the number of a new row."""
        if request.id in self._ids or rows.number(request.id) < self._least:
            request = request.replace(id=new_id())
        self._ids.add(request.id)
        return request

    def _turn_away(self, found: Request | Link, reason: str, within: str | None) -> None:
        super()._turn_away(found, reason, within)
        if reason == self._admission.shut and within is None:
            self._tell_away(found, refused(reason))
        elif reason != "seen" and found.url not in self._told_lately:
            if len(self._told_lately) >= _MOST_TOLD:
                self._told_lately.clear()
            self._told_lately.add(found.url)
            self._tell_away(found, Outcome(_TURNED_AWAY, reason))

    def _tell_away(self, found: Request | Link, outcome: Outcome) -> None:
        """Write *found* with its outcome: once if it is turned away, whole if it may wait again."""
        try:
            host = self._waiting.name_of(found.url)
        except InvalidURL:
            host = ""
        is_away = outcome.status == _TURNED_AWAY
        if is_away or isinstance(found, Link):
            row = rows.inserted(_plain(found), host, plain=True)
        else:
            row = rows.inserted(found.replace(id=new_id()), host)
        if not is_away or self._told.add(row[1]):
            self._store.batch.inserts.append(row)
            self._store.batch.ends.append(rows.ended(row[0], outcome))
            self._store.changed()

    def _end(self, request: Request, outcome: Outcome) -> None:
        self._overflow.leave(request)
        answer = self._answers.pop(request.id, ())
        end = rows.ended(rows.number_of(request), outcome, request, answer)
        page = self._within.pop(request.id, None)
        if page is None:
            self._write_end(request.id, end)
        elif page == _NONE or (outcome.status == "refused" and outcome.reason in CUT_OFF):
            # Without the page it would be one of its own to the next process.
            self._store.on_put_back(request.id)
        else:
            self._hold(page, request, end)
        super()._end(request, outcome)

    def _hold(self, page: str, request: Request, end: tuple[Any, ...]) -> None:
        """Let *request* be written with the *page* whose callback has waited for it."""
        row = rows.inserted(request, self._waiting.name_of(request.url), plain=True)
        self._held.setdefault(page, []).append((row, end))
        if page not in self._taken:
            self._write_end(page, None)

    def _write_end(self, number: str, end: tuple[Any, ...] | None) -> None:
        """Write the end of a page, and with it what its callback has waited for."""
        held = self._held.pop(number, ())
        try:
            for insert, _ in held:
                self._store.on_settle(f"{insert[0]:x}")
            self._store.on_settle(number)
        except Exception as error:  # whatever fails, the page is not written
            self._store.fail(error)
            return
        batch = self._store.batch
        for insert, end_of_it in held:
            batch.inserts.append(insert)
            batch.ends.append(end_of_it)
        if end is not None:
            batch.ends.append(end)
        self._store.settled()

    def _retry(self, host: Host, later: RetryLater, now: float) -> None:
        self._tell_progress(later.request)
        super()._retry(host, later, now)

    def _go_on(self, hop: Request) -> None:
        self._tell_progress(hop)
        super()._go_on(hop)

    def _tell_progress(self, request: Request) -> None:
        if request.id not in self._within:
            self._store.batch.again.append(rows.waits_again(request))
            self._store.changed()

    def _answered(
        self, host: Host, request: Request, result: Response | ModuleError, now: float
    ) -> None:
        super()._answered(host, request, result, now)
        if not self._robots.is_question(request):
            self._write_end(request.id, None)

    def _move_up(self, again: Request | Link) -> None:
        nearer = self._waiting.nearer(again)
        if isinstance(nearer, Request):
            host = self._waiting.host_of(nearer.url)
            self._store.batch.moves.append(rows.moved(nearer, host.name))
            self._store.changed()
            super()._put(host, nearer)

    # -- the queue ------------------------------------------------------------------------------

    def _put(self, host: Host, found: Request | Link, *, first: bool = False) -> None:
        if isinstance(found, Request) and (first or not self._overflow.keep(host, found)):
            super()._put(host, found, first=first)
            self._overflow.entered(host, found)

    def _choose(self, host: Host, now: float) -> Request | None:
        request = super()._choose(host, now)
        self._overflow.refill(host)
        return request

    def _settle_all(self, host: Host, outcome: Outcome) -> None:
        super()._settle_all(host, outcome)
        self._overflow.refill(host)

    @property
    def in_memory(self) -> int:
        """How many requests wait here, and not in the store only."""
        return self._hosts.queued

    def bring_in(self, request: Request, *, on: Host | None = None) -> None:
        """
        Let a request wait again that was read, or came while others of its host were read.

        If it is too late for it, or the scope has become narrower, it ends here.
        """
        reason = self._admission.shut or self._admission.scope.refusal(request.url, request.depth)
        if reason is not None:
            self._drop(request, refused(reason))
            return
        host = on or self._waiting.host_of(request.url)
        if host.name in self._dead:
            self._drop(request, failed("host"))
        elif on is not None:
            self._put(host, request)
        else:
            super()._put(host, request)

    def is_in_its_place(self, request: Request) -> bool:
        """Say if *request* would be found again in the store by its host and rank."""
        moved = request.redirects or request.attempts or request.id in self._within
        return not moved

    def forget(self, host: Host, last: Request) -> bool:
        """Take the *last* request of *host* out of memory; say if it counted."""
        return self._waiting.forget_last(host, last)

    def set_aside(self, row: rows.Row) -> None:
        """Settle a row that no request can be made of."""
        outcome = failed("damaged")
        self._store.batch.ends.append(rows.ended(row.id, outcome))
        self._store.settled()
        self._ledger.settle(outcome, row.url)
        if not self._ledger.pending:
            self._settled.set()

    # -- hosts --------------------------------------------------------------------------------

    def _tell_host(self, host: Host) -> None:
        rests_until = time.time() + max(0.0, host.ready_at - self._clock())
        row = rows.sealed(host.name, host.failures, rests_until, host.why)
        self._store.batch.hosts.append(row)
        self._store.changed()

    def _tell_robots(self, origin: str, seconds: float, body: bytes) -> None:
        row = rows.sealed(origin, time.time() + seconds, body)
        self._store.batch.robots.append(row)
        self._store.changed()

    def _recall_hosts(self) -> None:
        """Take up the failures, pauses and robots.txt that were known; damaged ones are asked anew."""
        passed = time.time() - self._clock()
        for *values, seal in self._store.rows("SELECT * FROM hosts"):
            if seal == rows.seal(*values):
                name, failures, rests_until, why = values
                host = self._waiting.host_named(name)
                host.failures = failures
                host.ready_at, host.why = rests_until - passed, why
                if self._backoff.is_hopeless(host):
                    self._dead.add(name)
        for *values, seal in self._store.rows("SELECT * FROM robots"):
            if seal == rows.seal(*values):
                origin, expires, body = values
                self._robots.recall(origin, expires - passed, body)

    def _figures(self) -> dict[str, Any]:
        return {
            "retried": self.retried,
            "begun": self._spending.begun,
            "bytes": self._spending.bytes,
            "turned_away": dict(self._ledger.turned_away),
            "scope": self._rules,
        }


def _plain(found: Request | Link) -> Request:
    return Request(found.url, depth=found.depth, found_on=found.found_on)
