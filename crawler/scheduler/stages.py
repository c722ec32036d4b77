"""Stages: download, analyze, process; and what becomes of a datum that fails in one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import closing
from operator import attrgetter
from typing import Any, TypeVar

import gevent
from gevent.event import AsyncResult

from ..buffer import Pool
from ..data import Item, Links, Request, Response
from ..errors import (
    CrawlerError,
    ModuleError,
    NoModule,
    Refusal,
    TimeLimit,
    Unfinished,
    Unwritable,
)
from ..frontier import FrontierContract, Next, Outcome
from ..module import Analyzer, Downloader, Pipeline, Registrar
from .args import ModuleArgs
from .error_pool import ErrorPool
from .meter import Meter
from .time_limit import LeftBehind, ModuleTimer
from .visits import Visit, Visits
from .workers import Stage

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds a datum waits for a module of its kind to be registered.
_MODULE_WAIT = 60.0
#: After how many findings of one page the others have a turn.
_TURN = 256


class Stages:
    """
    What a worker does with one datum of a visit, through modules the registrar chooses.

    A stage hands on what comes of its datum, and enters the timer while a module has it. The
    timer raises LeftBehind in a worker that was given up: abandon() has ended its visit, or
    will, and the stage counts, reports and hands on nothing.
    """

    def __init__(
        self,
        frontier: FrontierContract,
        visits: Visits,
        registrar: Registrar,
        errors: ErrorPool,
        args: ModuleArgs,
        *,
        responses: Pool[tuple[Visit, Response | ModuleError]],
        items: Pool[tuple[Visit, Item]],
    ) -> None:
        self.meter = Meter()
        self.items_found = self.items_processed = self.items_failed = self.items_dropped = 0
        #: By id, the result that a callback waits for: no parser gets the response.
        self.awaited: dict[str, AsyncResult[Response]] = {}
        self._time_limit = args.time_limit
        self._frontier = frontier
        self._visits = visits
        self._registrar = registrar
        self._errors = errors
        self._responses = responses
        self._items = items
        #: Called when the crawl cannot go on, though its requests could.
        self.on_unfinished: Callable[[], object] = bool
        frontier.events.on_drop = self._dropped
        frontier.events.on_failure = self._failed

    def do(self, stage: Stage[T], visit: Visit, datum: T, timer: ModuleTimer) -> None:
        """Let *stage* work on one datum: the one place where failures are caught."""
        try:
            stage(visit, datum, timer)
        except LeftBehind:
            raise
        except ModuleError as error:
            if isinstance(error.__cause__, Unfinished):
                self._leave(visit, error)
            else:
                self._report(visit, error)
        except NoModule as error:
            self._report(visit, _of_scheduler(visit, "no_module", str(error), error))
        except BaseException as cause:
            self._interrupted(visit, datum, cause)
            raise
        finally:
            if not timer.given_up:
                self._visits.close(visit)

    def _leave(self, visit: Visit, error: ModuleError) -> None:
        """Leave *visit* for the next crawl; this one cannot go on because of *error*."""
        self._errors.report(error)
        self._visits.give_back(visit)
        self.on_unfinished()

    def _failed(self, request: Request, error: ModuleError) -> None:
        """Report that *request* has failed because its robots.txt could not be fetched."""
        self._errors.report(
            ModuleError(error.module, request, f"robots.txt: {error.reason}", error.kind)
        )

    def abandon(self, stage: Stage[Any], visit: Visit) -> None:
        """Let *visit* fail whose worker was left behind in *stage*, and count what it cannot."""
        limit = TimeLimit(self._time_limit)
        reason = f"{limit}, swallowed what said so, and was left behind"
        self._report(visit, _of_scheduler(visit, "timeout", reason, limit))
        self.items_failed += stage == self.process

    # -- download ---------------------------------------------------------------------------

    def download(self, visit: Visit, request: Request, timer: ModuleTimer) -> None:
        try:
            result = self._fetch(visit, request, timer)
            if isinstance(result, Response):
                self._visits.weigh(visit, len(result.body))
            after = self._frontier.fetched(visit.taken, result)
            if after is Next.ANALYZE:
                self._deliver(visit, result)
        finally:
            self._visits.end_download(visit)
        if isinstance(after, Outcome):
            self._end(visit, result, after)

    def _fetch(self, visit: Visit, request: Request, timer: ModuleTimer) -> Response | ModuleError:
        downloader = self._registrar.get(Downloader, timeout=_MODULE_WAIT)
        try:
            with timer:
                response = downloader.download(request)
        except ModuleError as error:
            return error
        if not visit.taken.is_robots:
            self.meter.count(response)
        return response

    def _end(self, visit: Visit, result: Response | ModuleError, outcome: Outcome) -> None:
        """Let *visit* end with the *outcome* of its download."""
        visit.outcome = outcome
        if outcome.status == "failed":
            self._deliver(visit, _failure(visit, result, outcome.reason))
        else:
            self._dropped(visit.request, outcome)

    def _deliver(self, visit: Visit, result: Response | ModuleError) -> None:
        """Pass the end of a download on: to the callback that waits for it, or to an analyzer."""
        if isinstance(result, ModuleError):
            self._report(visit, result)
        awaited = self.awaited.get(visit.request.id)
        if awaited is None:
            if isinstance(result, Response) or self._recovering():
                self._visits.hand(visit, result, self._responses)
        elif isinstance(result, Response):
            awaited.set(result)

    # -- analyze ----------------------------------------------------------------------------

    def analyze(self, visit: Visit, datum: Response | ModuleError, timer: ModuleTimer) -> None:
        self._visits.analyses.enter(visit.taken)
        try:
            self._gather(visit, self._findings(datum), timer)
        except Unwritable as error:
            raise _of_scheduler(visit, "unwritable", str(error), error) from error
        finally:
            self._visits.analyses.leave(visit.taken)

    def _findings(self, datum: Response | ModuleError) -> Generator[Any]:
        if isinstance(datum, Response):
            return self._registrar.get(Analyzer, timeout=_MODULE_WAIT).analyze(datum)
        able = self._recovering()
        if not able:  # it was removed since the failure was passed on
            raise NoModule("no analyzer that recovers is registered")
        return min(able, key=attrgetter("score")).recover(datum)

    def _recovering(self) -> list[Analyzer]:
        """Return the analyzers that accept failed downloads, as soon as any analyzer is registered."""
        registered = self._registrar.all(Analyzer) or [
            self._registrar.get(Analyzer, timeout=_MODULE_WAIT)
        ]
        return [analyzer for analyzer in registered if analyzer.recovers]

    def _gather(self, visit: Visit, findings: Generator[Any], timer: ModuleTimer) -> None:
        # Closed at once: a traceback may keep a generator, and its place in the counts, alive.
        with timer, closing(findings):
            number = 0
            for found in findings:
                timer.check()
                if isinstance(found, Links):
                    self._frontier.admit_many(found)
                    number += len(found.urls)
                elif isinstance(found, Item):
                    with timer.paused():
                        self._visits.hand(visit, found, self._items)
                    self.items_found += 1
                    number += 1
                else:
                    self._frontier.admit(found)
                    number += 1
                if number >= _TURN:
                    number = 0
                    gevent.sleep(0)

    # -- process ----------------------------------------------------------------------------

    def process(self, _: Visit, item: Item, timer: ModuleTimer) -> None:
        try:
            pipeline = self._registrar.get(Pipeline, timeout=_MODULE_WAIT)
            with timer:
                kept = pipeline.send(item)
        except LeftBehind:
            raise
        except BaseException as error:
            # What stop() interrupts is not failed but pending, as its request is.
            if isinstance(error, CrawlerError) or not self._visits.ending:
                self.items_failed += 1
            raise
        if kept is None:
            self.items_dropped += 1
        else:
            self.items_processed += 1

    # -- failures ---------------------------------------------------------------------------

    def _report(self, visit: Visit, error: ModuleError) -> None:
        visit.fail(error.kind)
        awaited = self.awaited.get(visit.request.id)
        if awaited is not None:
            awaited.set_exception(error)
        log.debug("%s", error)
        self._errors.report(error)

    def _dropped(self, request: Request, outcome: Outcome) -> None:
        """Raise Refusal in the callback that waits for *request*, if one does."""
        awaited = self.awaited.get(request.id)
        if awaited is not None:
            awaited.set_exception(Refusal(outcome.reason, request.url))

    def _interrupted(self, visit: Visit, datum: object, cause: BaseException) -> None:
        if self._visits.ending:
            self._visits.give_back(visit)
        else:
            reason = f"the greenlet working on {datum} was killed"
            self._report(visit, _of_scheduler(visit, "killed", reason, cause))


def _failure(visit: Visit, result: Response | ModuleError, kind: str) -> ModuleError:
    """Return the error that a fetch ended with; a chain of redirects ends without one."""
    if isinstance(result, ModuleError):
        return result
    return _of_scheduler(visit, kind, f"{result.status} to {result.headers['location']!r:.200}")


def _of_scheduler(
    visit: Visit, kind: str, reason: str, cause: BaseException | None = None
) -> ModuleError:
    error = ModuleError("scheduler", visit.request, reason, kind)
    error.__cause__ = cause
    return error
