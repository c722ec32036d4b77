"""Stages: download, analyze, process; and what becomes of a datum that fails in one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, TypeVar

import gevent
from gevent.event import AsyncResult
from gevent.lock import Semaphore

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
from ..frontier import Frontier, Next, Outcome
from ..module import Analyzer, Downloader, Pipeline, Registrar
from .args import ModuleArgs
from .error_pool import ErrorPool
from .meter import Meter
from .time_limit import Alarm
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

    A stage hands on what comes of its datum, and sets the alarm while a module has it. When
    the alarm says that the worker was given up, abandon() has ended the visit, or will: the
    stage then returns at once, and counts, reports and hands on nothing.
    """

    def __init__(
        self,
        frontier: Frontier,
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
        #: By id, who waits for a request, and gets its response instead of a parser.
        self.awaited: dict[str, AsyncResult[Response]] = {}
        #: How many requests more may be taken: one for each download worker that is free.
        self.slots = Semaphore(args.download_workers)
        self._time_limit = args.time_limit
        self._frontier = frontier
        self._visits = visits
        self._registrar = registrar
        self._errors = errors
        self._responses = responses
        self._items = items
        #: Called when the crawl cannot go on, though its requests could.
        self.on_unfinished: Callable[[], object] = bool
        frontier.on_drop = self._dropped
        frontier.on_failure = self._failed

    def do(self, stage: Stage[T], visit: Visit, datum: T, alarm: Alarm) -> None:
        """Let *stage* work on one datum: the one place where failures are caught."""
        try:
            stage(visit, datum, alarm)
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
            if not alarm.given_up:
                self._visits.close(visit)

    def _leave(self, visit: Visit, error: ModuleError) -> None:
        """Leave *visit* for the next crawl; this one cannot go on because of *error*."""
        self._errors.report(error)
        self._visits.give_back(visit)
        self.on_unfinished()

    def _failed(self, request: Request, error: ModuleError) -> None:
        """Report why *request* has failed before it was taken: its robots.txt could not be had."""
        self._errors.report(
            ModuleError(error.module, request, f"robots.txt: {error.reason}", error.kind)
        )

    def abandon(self, stage: Stage[Any], visit: Visit) -> None:
        """Let *visit* fail whose worker was left behind in *stage*, and count what it cannot."""
        limit = TimeLimit(self._time_limit)
        reason = f"{limit}, swallowed what said so, and was left behind"
        self._report(visit, _of_scheduler(visit, "timeout", reason, limit))
        self.items_failed += stage == self.process
        if stage == self.download:
            self.slots.release()

    # -- download ---------------------------------------------------------------------------

    def download(self, visit: Visit, request: Request, alarm: Alarm) -> None:
        try:
            result = self._fetch(request, alarm)
            if alarm.given_up:
                return
            if isinstance(result, Response):
                self._visits.weigh(visit, len(result.body))
            outcome = self._frontier.fetched(request, result)
            if outcome is Next.ANALYZE and isinstance(result, Response):
                self._deliver(visit, result)
                return
        finally:
            if not alarm.given_up:
                self.slots.release()
        visit.outcome = outcome if isinstance(outcome, Outcome) else None
        if visit.outcome is None:
            return
        if visit.outcome.status == "failed":
            self._deliver(visit, _failure(visit, result, visit.outcome.reason))
        else:
            self._dropped(request, visit.outcome)

    def _fetch(self, request: Request, alarm: Alarm) -> Response | ModuleError:
        downloader = self._registrar.get(Downloader, timeout=_MODULE_WAIT)
        try:
            with alarm:
                response = downloader.download(request)
        except ModuleError as error:
            return error
        if not self._frontier.is_question(request):
            self.meter.count(response)
        return response

    def _deliver(self, visit: Visit, result: Response | ModuleError) -> None:
        """Pass the end of a download on to whoever is to have it."""
        if isinstance(result, ModuleError):
            self._report(visit, result)
        awaited = self.awaited.get(visit.request.id)
        if awaited is None:
            if isinstance(result, Response) or self._recovers():
                self._visits.hand(visit, result, self._responses)
        elif isinstance(result, Response):
            awaited.set(result)

    def _recovers(self) -> bool:
        return self._registrar.get(Analyzer, timeout=_MODULE_WAIT).recovers

    # -- analyze ----------------------------------------------------------------------------

    def analyze(self, visit: Visit, datum: Response | ModuleError, alarm: Alarm) -> None:
        analyzer = self._registrar.get(Analyzer, timeout=_MODULE_WAIT)
        if isinstance(datum, Response):
            findings = analyzer.analyze(datum)
        else:
            findings = analyzer.recover(datum)
        self._frontier.begin_analysis(visit.request)
        try:
            self._gather(visit, findings, alarm)
        except Unwritable as error:
            raise _of_scheduler(visit, "unwritable", str(error), error) from error
        finally:
            self._frontier.end_analysis()

    def _gather(self, visit: Visit, findings: Generator[Any], alarm: Alarm) -> None:
        # Closed at once: a traceback may keep a generator, and its place in the counts, alive.
        with alarm, closing(findings):
            number = 0
            for found in findings:
                if alarm.given_up:
                    return
                if isinstance(found, Links):
                    self._frontier.admit_many(found)
                    number += len(found.urls)
                elif isinstance(found, Item):
                    with alarm.paused():
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

    def process(self, _: Visit, item: Item, alarm: Alarm) -> None:
        try:
            pipeline = self._registrar.get(Pipeline, timeout=_MODULE_WAIT)
            with alarm:
                kept = pipeline.send(item)
        except BaseException as error:
            # What stop() interrupts is not failed but pending, as its request is.
            is_failure = isinstance(error, CrawlerError) or not self._visits.ending
            if is_failure and not alarm.given_up:
                self.items_failed += 1
            raise
        if alarm.given_up:
            return
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
        """Tell whoever waits for *request* that it will not be fetched."""
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
