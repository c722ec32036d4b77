"""Frontier: the contract of contract.py, carried out by the parts beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from time import monotonic
from typing import Any

import gevent

from .. import url as urls
from .._give_way import give_way
from ..credentials import without_credentials
from ..data import Link, Links, Request, Response, with_login
from ..errors import FrontierClosed, ModuleError
from ..url import resolve_or_keep, without_fragment
from .admission.admission import SENT
from .admission.fingerprint import Fingerprint
from .admission.link_filter import LinkFilter
from .admission.scope import Scope
from .admission.seen import Seen
from .admission.traps import TrapGuard
from .after_fetch import AfterFetch, Hop, RetryLater, described, kind_of
from .budget import Budget
from .contract import Next, Taken
from .durable.journal import Journal, NullJournal, Restored
from .endings import Endings
from .hosts.backoff import FROM_CACHE
from .hosts.host import Host, HostFacts
from .hosts.politeness import Politeness
from .hosts.wakeup import Wakeup
from .next_request import NextRequest
from .outcome import MOVED, Outcome, failed, refused
from .parts import Parts, Rules
from .restore import Restorer
from .retries import Retries
from .robots_fetches import RobotsFetches
from .view import View

#: Seconds that a host must rest for the rest to be recorded.
_LEAST_REST = 1.0


class Frontier:
    """
    Every request that has been admitted and is not settled, each in one of three states:

    - waiting: in the queue of its host, until the host is due and the request its next;
    - in flight: between take() and fetched();
    - fetched: being analysed, until settle().

    A retry and a redirect hop wait again without being admitted again. take() sleeps until
    the host that is due first, and is woken by an earlier one. *slots* is how many requests
    the caller can have in flight: slow hosts get a share of them. Frontiers that share a
    *wakeup* let one greenlet wait for all of them, with take_due() and next_due().
    """

    def __init__(
        self,
        scope: Scope,
        *,
        politeness: Politeness | None = None,
        retries: Retries | None = None,
        budget: Budget | None = None,
        traps: TrapGuard | None = None,
        seen: Seen | None = None,
        fingerprint: Fingerprint | None = None,
        journal: Journal | None = None,
        agent: str = "crawler",
        slots: int | None = None,
        duplicate_filter: str = "bloom",
        wakeup: Wakeup | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._rules = Rules(
            scope,
            politeness or Politeness(),
            retries or Retries(),
            budget or Budget(),
            traps or TrapGuard(),
            agent,
            slots,
            duplicate_filter,
        )
        journal = NullJournal() if journal is None else journal
        restored = journal.restore(self._rules.traps, fingerprint or Fingerprint())
        self._parts = parts = Parts(self._rules, journal, restored, seen, wakeup or Wakeup(), clock)
        self._endings = Endings(parts)
        self._robots = RobotsFetches(parts, self._endings)
        self._after_fetch = AfterFetch(
            parts.admission, self._rules.retries, self._rules.politeness, parts.queues.is_dead
        )
        self._next = NextRequest(parts, self._endings, self._robots)
        self._links = LinkFilter(
            scope.max_depth,
            parts.ledger.turned_away,
            parts.admission.seen,
            parts.admission.fingerprint,
            parts.nearest.depth_of,
            admits_seen=parts.admission.admits_seen,
        )
        self.events = parts.events
        self._marks = journal.marks
        self.budget = self._rules.budget
        self.closed = False
        self.view = View(parts, self._after_fetch.moved)
        self.resumed = bool(parts.ledger.admitted)
        self._restore(restored)

    def admit(
        self, found: Request | Link, page: Taken | None = None, *, is_awaited: bool = False
    ) -> str | None:
        return self._admit(found, page.request.id if is_awaited and page is not None else None)

    def admit_guest(self, found: Request) -> str | None:
        return self._admit(found, found.id)

    def _admit(self, found: Request | Link, awaited_by: str | None) -> str | None:
        parts = self._parts
        reason, key = parts.admission.decide(found)
        if reason is None and parts.queues.dead and parts.queues.is_dead(found.url):
            reason = "host"
        if isinstance(found, Link):
            self._links.add(found, reason)
        if reason == SENT:
            return None
        if "#" in found.url and reason != "invalid":
            found = replace(found, url=without_fragment(found.url))
        if reason is None:
            host = parts.queues.host_of(found.url)
            parts.waiting.put(host, parts.accounts.admit(found, key, host, awaited_by))
        elif reason == parts.admission.shut:
            parts.accounts.cut_off(found, reason, awaited_by)
        else:
            parts.accounts.turn_away(found, reason)
            if reason == "seen":
                parts.accounts.found_again(found, key, is_moved=parts.waiting.move_up(found))
        return reason

    def admit_many(self, links: Links, page: Taken | None = None) -> None:  # noqa: ARG002
        if links.refusal:
            for url in links.urls:
                self._turn_away(Link(url, links.depth, links.found_on or None), links.refusal)
            return
        for link in self._links.unknown(links):
            self.admit(with_login(link) if "@" in link.url else link)

    def move_in(self, hop: Request) -> None:
        parts = self._parts
        host, decision = parts.queues.host_of(hop.url), parts.admission.decide_hop(hop)
        hop = parts.accounts.move_in(hop, decision.key, host)
        if parts.queues.is_dead(hop.url):
            self._endings.drop(hop, failed("host"))
        elif decision.reason is not None:
            self._endings.drop(hop, refused(decision.reason))
        else:
            parts.waiting.put(host, hop, first=True)

    def leave_out(self, links: Links, page: Taken | None = None) -> None:  # noqa: ARG002
        self._parts.accounts.leave_out(links.urls, links.refusal)

    def take(self) -> Taken:
        parts = self._parts
        while True:
            parts.journal.wait_for_room()
            parts.flowing.wait()
            if self.closed:
                raise FrontierClosed("the frontier is closed")
            taken = self.take_due()
            if taken is not None:
                return taken
            now = parts.clock()
            until = self.next_due(now)
            if until is not None and until <= now:
                give_way()
            else:
                parts.queues.wakeup.sleep(now, until)

    def take_due(self) -> Taken | None:
        now = self._parts.clock()
        taken = self._next.take(now)
        if taken is not None:
            self.view.taken += 1
            self._keep_rest(taken.host, now)
        return taken

    def next_due(self, now: float) -> float | None:
        if self._next.has_more:
            return now
        return self._parts.queues.next_due(now, self._parts.spending.free_at)

    def fetched(self, taken: Taken, result: Response | ModuleError) -> Next | Outcome:
        if taken.is_over or not taken.is_in_flight:
            raise ValueError(f"{taken.request} is not taken, or was fetched already")
        parts, now, host = self._parts, self._parts.clock(), taken.host
        taken.is_in_flight = False
        self._end_flight(taken, now, _time_of(taken, result, now))
        after: Next | Outcome = Next.AGAIN
        if taken.is_robots:
            parts.backoff.robots_fetched(host, result, now)
            parts.queues.wake_after(host)
            self._release(taken)
            self._robots.answered(taken, result, now)
        else:
            parts.backoff.fetched(host, taken.request.url, result, now)
            parts.queues.wake_after(host)
            after = self._follow_up(taken, result, now)
        self._keep_rest(host, now)
        return after

    def begin_analysis(self, taken: Taken) -> None:
        self._marks.begin(taken.request)

    def end_analysis(self, taken: Taken) -> None:
        self._marks.end(taken.request)

    def mark_heavy(self, taken: Taken, *, is_heavy: bool = True) -> None:
        if taken.is_heavy is not is_heavy and not taken.is_over:
            taken.is_heavy = is_heavy
            taken.host.domain.heavy += 1 if is_heavy else -1
            if self._parts.hosts.shares.holds_back:
                self._parts.queues.wake()

    def settle(self, taken: Taken, outcome: Outcome) -> None:
        if taken.is_robots:
            self.put_back(taken)
            return
        self._release(taken)
        # A host that has rested is forgotten, and there may be a new record of it by now.
        host = self._parts.hosts.find(taken.host.name) or taken.host
        host.done += outcome.status == "done"
        host.failed += outcome.status == "failed"
        self._endings.end(taken.request, outcome, taken.answer)

    def put_back(self, taken: Taken) -> None:
        self._release(taken)
        parts, request = self._parts, taken.request
        if taken.is_robots:
            self._robots.put_back(request)
            return
        parts.journal.put_back(request)
        reason = parts.admission.stops(request)
        if reason is not None:
            self._endings.drop(request, refused(reason))
        else:
            if taken.failure is None:
                parts.spending.take_back(request)
            parts.waiting.put(parts.queues.host_of(request.url), request, first=True)

    def join(self, timeout: float | None = None) -> bool:
        with gevent.Timeout(timeout, False):  # type: ignore[arg-type]  # the stubs do not know False
            # Something may have been admitted since nothing was left.
            while not (self.view.idle or self.closed):
                self._parts.accounts.idle.wait()
        return self.view.idle

    def close(self) -> None:
        self.closed = True
        self.events.clear()
        self._endings.close()
        self._parts.flowing.set()
        self._parts.queues.close()
        self._parts.accounts.idle.set()
        self._parts.journal.finish()

    def pause(self, host: str | None = None) -> None:
        parts = self._parts
        if host is None:
            parts.flowing.clear()
        else:
            parts.hosts.pause(parts.queues.record(host), parts.clock(), paused=True)

    def resume(self, host: str | None = None) -> None:
        parts = self._parts
        if host is None:
            parts.flowing.set()
        else:
            parts.hosts.pause(parts.queues.record(host), parts.clock(), paused=False)
            parts.queues.wake()

    def set_delay(self, host: str, seconds: float) -> None:
        if not seconds >= 0:
            raise ValueError(f"a delay must be 0 or more seconds, not {seconds!r}")
        self._parts.queues.record(host).delay = seconds

    def cut_off(self, reason: str) -> None:
        self._endings.cut_off(reason)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "paused" if self.view.paused else "open"
        return f"<Frontier {state}, {len(self.view)} waiting, {self.view.taken} taken>"

    def _turn_away(self, link: Link, reason: str) -> None:
        """Turn away a link for a reason of its page, whatever admission would decide."""
        url = without_fragment(without_credentials(resolve_or_keep(link.found_on or "", link.url)))
        self._parts.accounts.turn_away(replace(link, url=url), reason)

    def _release(self, taken: Taken) -> None:
        """Let *taken* be over: its place in flight, and in the figures, is free."""
        if taken.is_over:
            raise ValueError(f"{taken.request} is not taken: a request is settled once")
        self.mark_heavy(taken, is_heavy=False)
        taken.is_over = True
        self.view.taken -= 1
        if taken.is_in_flight:
            now, taken.is_in_flight = self._parts.clock(), False
            self._end_flight(taken, now, None)
            self._parts.hosts.end(taken.host, now)
            self._parts.queues.wake_after(taken.host)

    def _end_flight(self, taken: Taken, now: float, seconds: float | None) -> None:
        """Give back the slot of *taken*, before its host, which may be idle then, is forgotten."""
        if taken.flight is not None:
            self._parts.hosts.shares.end(taken.flight, now, seconds)

    def _keep_rest(self, host: Host, now: float) -> None:
        """Record how long *host* rests, so that the next process lets it, too; unless it is short."""
        seconds = host.ready_at - now
        if seconds >= _LEAST_REST:
            self._parts.journal.learned(HostFacts(host.name, 0, seconds, host.why))

    def _follow_up(
        self, taken: Taken, result: Response | ModuleError, now: float
    ) -> Next | Outcome:
        """Let the request of *taken* wait again if it must; return what the caller is to do."""
        if isinstance(result, Response) and "cached" not in result.flags:
            self._parts.spending.add_bytes(result.size, now)
            self._endings.check_budget()
        rests_until, is_last = now, False
        if taken.host.failing:
            origin = urls.origin(taken.request.url)
            is_last = self._endings.give_up(taken.host, origin, described(result), now)
            rests_until = taken.host.origin_rests_until(origin)
        after = self._after_fetch.decide(taken.request, result, is_last=is_last)
        if isinstance(after, Hop):
            return self._hop(taken, after.request)
        if isinstance(after, RetryLater):
            self._release(taken)
            self.view.retries[kind_of(result)] += 1
            due = max(now + after.wait, rests_until)
            self._parts.waiting.put_later(taken.host, after.request, due, now)
            return Next.AGAIN
        if isinstance(result, Response):
            taken.answer = (result.status, result.size, result.elapsed)
        return after

    def _hop(self, taken: Taken, hop: Request) -> Next | Outcome:
        """Let *hop* wait, here or in another frontier; return how *taken* ends if neither can be."""
        moved = self._parts.journal.moves(hop)
        if moved is None:
            self._release(taken)
            self._parts.waiting.put_again(hop)
        elif moved == MOVED:
            self._release(taken)
            self._parts.accounts.move_out(hop)
        else:
            return moved
        return Next.AGAIN

    def _restore(self, restored: Restored) -> None:
        """Continue with what an earlier process has left."""
        parts, journal, figures = self._parts, self._parts.journal, restored.figures
        self.view.recall(figures)
        parts.spending.begun = figures.get("begun", 0)
        parts.spending.bytes = figures.get("bytes", 0)
        restorer = Restorer(parts, self._endings)
        restorer.recall(restored, self._robots.cache, parts.clock())
        journal.overflow.open(restorer)
        journal.include("frontier", self._figures)
        journal.include("counts", lambda: asdict(self.view.counts()))
        same_scope = figures.get("scope", parts.rules.scope.text) == parts.rules.scope.text
        if self.resumed:
            self._links.resume(same_scope=same_scope)
        if not same_scope:
            for link in restorer.out_of_scope():
                self.admit(link)

    def _figures(self) -> dict[str, Any]:
        parts = self._parts
        return {
            "retries": dict(self.view.retries),
            "begun": parts.spending.begun,
            "bytes": parts.spending.bytes,
            "turned_away": dict(parts.ledger.turned_away),
            "found_nearer": parts.ledger.found_nearer,
            "scope": parts.rules.scope.text,
        }


def _time_of(taken: Taken, result: Response | ModuleError, now: float) -> float | None:
    """Return the seconds that the host took for a page; None if it was not asked for one."""
    if taken.is_robots or taken.flight is None:
        return None
    if isinstance(result, ModuleError):
        return now - taken.flight.began
    return None if result.flags & FROM_CACHE else result.elapsed
