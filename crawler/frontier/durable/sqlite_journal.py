"""SqliteJournal: the decisions of a frontier as rows of a job's state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import gevent

from ...data import Link, Request, new_id
from ...errors import JobError
from ..admission.fingerprint import Fingerprint
from ..admission.traps import TrapGuard
from ..budget import CUT_OFF
from ..contract import FrontierContract
from ..hosts.host import HostFacts
from ..hosts.robots_cache import RobotsFacts
from ..outcome import Outcome, refused
from . import rows
from .awaited import AwaitedRequests
from .batch import Step, Values
from .crash_marker import AnalysisMarks
from .group_commit import MOST_UNWRITTEN, GroupCommit
from .journal import NearerFind, PageEnd, Restored
from .recovery import MANY, Recovered, facts_of_hosts, facts_of_robots, recover
from .reopening import FailedPages
from .store import Store
from .stored_queues import WINDOW, StoredQueues


class SqliteJournal:
    """
    Writes a URL when it is admitted, and again when it ends: until then it is outstanding.

    The id of a request is the number of its row. Beyond a *window* of requests, what waits
    is in the store only: see StoredQueues. From *many* rows on, a store is read by SQL where that
    is possible: see recover().
    """

    def __init__(
        self, path: str | os.PathLike[str], *, window: int = WINDOW, many: int = MANY
    ) -> None:
        self.store = Store(path)
        self._many = many
        self.commits = GroupCommit(self.store)
        #: What was found when the frontier began; None before.
        self.recovered: Recovered | None = None
        #: The failed pages that are to be fetched again when the frontier begins.
        self.retried: FailedPages | None = None
        #: How URLs are remembered that were met before: one of DUPLICATE_FILTERS.
        self.duplicate_filter = "bloom"
        self.marks = AnalysisMarks(self.store.marker, self._commit_apart)
        self._awaited = AwaitedRequests()
        self.overflow = StoredQueues(self.store, self.commits, self._awaited, window)
        self._fingerprint = Fingerprint()
        self._least_number = 0

    # -- the beginning and the end -----------------------------------------------------------------

    def restore(self, traps: TrapGuard, fingerprint: Fingerprint) -> Restored:
        found = recover(
            self.store,
            traps,
            fingerprint,
            window=self.overflow.window,
            retried=self.retried,
            duplicate_filter=self.duplicate_filter,
            many=self._many,
        )
        self.recovered = self.overflow.found = found
        if found.ended_at_unknown:
            self.marks.commit_first = 2 * MOST_UNWRITTEN
        self._fingerprint = found.fingerprint
        self._least_number = rows.number(new_id())
        hosts, robots = self._facts()
        return Restored(
            found.fingerprint,
            ledger=found.ledger,
            seen=found.seen,
            figures=found.figures,
            hosts=hosts,
            robots=robots,
            suspects=found.suspects,
        )

    def _facts(self) -> tuple[list[HostFacts], list[RobotsFacts]]:
        """
        Return what is known of hosts, and their robots.txt.

        If the clock was fast when they were written, they are written again, by the clock of now;
        no commit before that says that time has gone back.
        """
        now = time.time()
        then = max(now, self.fact("time") or 0.0)
        hosts, robots = facts_of_hosts(self.store, then), facts_of_robots(self.store, then)
        known: list[HostFacts | RobotsFacts] = [*hosts, *robots]
        for facts in known if then > now else ():
            self.learned(facts)
        self.commits.figures["time"] = time.time
        return hosts, robots

    def open_frontier(self, make: Callable[..., FrontierContract]) -> FrontierContract:
        return make(self)

    def fact(self, name: str) -> Any:
        return self.store.fact(name)

    def commit_figures(self) -> dict[str, Any]:
        return self.commits.measured()

    def write_figures(self) -> None:
        self.commits.write(anyway=True)

    def turned_away_before(self) -> Iterator[tuple[Link, str]]:
        query = "SELECT url, depth, found_on, reason FROM urls WHERE status = ?"
        for url, depth, found_on, reason in self.store.rows(query, rows.TURNED_AWAY):
            yield Link(url, depth, found_on), reason

    def include(self, name: str, figures: Callable[[], Any]) -> None:
        self.commits.figures[name] = figures

    def wait_for_room(self) -> None:
        self.commits.wait_for_room()

    def _commit_apart(self) -> None:
        """Commit in a greenlet of its own: a callback's time limit may end the wait, not the commit."""
        gevent.spawn(self.commits.write).join()

    def finish(self) -> None:
        self.overflow.close()
        with suppress(JobError):  # the owner of the job reports it
            self.commits.flush()

    def close(self) -> None:
        self.commits.close()

    # -- what is written ----------------------------------------------------------------------

    def admitted(
        self, found: Request | Link, key: bytes, host: str, awaited_by: str | None
    ) -> Request:
        request = _plain(found) if isinstance(found, Link) else _with_row(found, self._least_number)
        if awaited_by is None:
            row = rows.inserted(request, host, key, plain=isinstance(found, Link))
            self.commits.batch.inserts.append(row)
            self.commits.changed()
        else:
            self._awaited.add(request, awaited_by, host)
        return request

    def turned_away(self, found: Request | Link, reason: str, host: str) -> None:
        key = rows.key_of_link(found.url, self._fingerprint)
        mark = rows.turned_away_key(key, reason)
        if self.recovered is not None and self.recovered.turned_away.add(mark):
            self.commits.batch.turned_away.append(rows.turned_away(found, host, key, reason))
            self.commits.changed()

    def cut_off(self, found: Request | Link, reason: str, host: str) -> None:
        if isinstance(found, Link):
            row = rows.plain(_plain(found), host, self._fingerprint)
        else:
            key = rows.key_of(found, self._fingerprint)
            row = rows.inserted(found.replace(id=new_id()), host, key)
        self._record(row, refused(reason))

    def found_nearer(self, request: Request, host: str) -> None:
        row = rows.moved(request, host, rows.key_of(request, self._fingerprint))
        self.commits.batch.moves.append(row)
        self.commits.changed()

    def sends(self, _found: Request | Link, _url: str) -> bool:
        return False

    def moves(self, _hop: Request) -> None:
        return None

    def waits_again(self, request: Request) -> None:
        if request.id not in self._awaited:
            output = self.commits.outputs.collect(request.id)
            self._write(Step(again=rows.waits_again(request), output=output))

    def put_back(self, request: Request) -> None:
        self._awaited.page_put_back(request.id)
        self.commits.outputs.discard(request.id)

    def ended(self, end: PageEnd) -> None:
        request, outcome = end.request, end.outcome
        self.overflow.left(request)
        row = rows.ended(rows.number_of(request), outcome, request, end.answer or ())
        if request.id not in self._awaited:
            self._end_page(request.id, row)
        elif self._awaited.is_useless(request.id) or (
            outcome.status == "refused" and outcome.reason in CUT_OFF
        ):
            # Without its page it would be a page of its own to the next process.
            self._awaited.remove(request.id)
            self.commits.outputs.discard(request.id)
        else:
            self._end_awaited(request, row)

    def fetched_aside(self, request: Request) -> None:
        self._write(Step(output=self.commits.outputs.collect(request.id)))

    def learned(self, facts: HostFacts | RobotsFacts | NearerFind) -> None:
        batch = self.commits.batch
        if isinstance(facts, NearerFind):
            page = None if facts.found_on is None else rows.text_of(facts.found_on)
            batch.nearer.append((facts.key, facts.depth, page))
        elif isinstance(facts, RobotsFacts):
            until = time.time() + facts.seconds
            batch.robots.append(rows.sealed(facts.origin, until, facts.body))
        else:
            until = time.time() + facts.seconds
            batch.hosts.append(rows.sealed(facts.name, facts.failures, until, facts.why))
        self.commits.changed()

    def _record(self, row: Values, outcome: Outcome) -> None:
        """Write a URL together with its outcome."""
        self.commits.batch.add(Step(insert=row, end=rows.ended(row[0], outcome)))
        self.commits.changed()

    def _end_awaited(self, request: Request, end: Values) -> None:
        insert = rows.plain(request, self._awaited.host_of(request.id), self._fingerprint)
        output = self.commits.outputs.collect(request.id)
        step = Step(insert=insert, end=end, output=output)
        if not self._awaited.end(request.id, step):
            self._write(step)

    def _end_page(self, request_id: str, end: Values) -> None:
        """Write the end of a page, and of what its callback has waited for."""
        output = self.commits.outputs.collect(request_id)
        self._write(*self._awaited.page_ended(request_id), Step(end=end, output=output))

    def _write(self, *steps: Step) -> None:
        """Write *steps*, which must be in one transaction; they count as one."""
        for step in steps:
            self.commits.batch.add(step)
        self.commits.stepped()


def _plain(found: Request | Link) -> Request:
    return Request(found.url, depth=found.depth, found_on=found.found_on)


def _with_row(request: Request, least: int) -> Request:
    """Return *request* with an id that can be the number of a new row."""
    return request.replace(id=new_id()) if rows.number(request.id) < least else request
