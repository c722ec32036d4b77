"""Stages: download, analyze, process, and the handling of failures in them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, closing, nullcontext
from operator import attrgetter
from typing import Any, TypeVar

from .._give_way import give_way
from .._words import counted
from ..buffer import Pool
from ..current_request import CURRENT_REQUEST
from ..data import Item, Links, LostItem, Request, Response
from ..errors import (
    CrawlerError,
    ModuleError,
    NoModule,
    TimeLimit,
    Unfinished,
    Unwritable,
)
from ..frontier import FrontierContract, Next, Outcome, failed
from ..http.logins import Logins
from ..module import Analyzer, Downloader, Pipeline, Registrar
from .args import ModuleArgs
from .error_pool import ErrorPool
from .failures import Failures
from .large_pages import LargePages
from .meter import Meter
from .page_links import PageLinks
from .page_log import log_page
from .page_size import analysis_size
from .time_limit import LeftBehind, ModuleTimer
from .visits import Visit, Visits
from .workers import Recalled, Stage

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds that a datum waits for a module of its stage to be registered.
_MODULE_WAIT = 60.0
#: The number of findings of one page after which the worker yields to the other greenlets.
_FINDINGS_PER_TURN = 256


class Stages:
    """
    The work on one datum of a visit, done by modules that the registrar chooses.

    A stage passes its results on, and enters the timer while a module works. The timer raises
    LeftBehind in a worker that was given up: abandon() has ended its visit, or will end it, so
    the stage must count, report and pass on nothing more.
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
        large: Pool[tuple[Visit, Response]],
        items: Pool[tuple[Visit, Item]],
    ) -> None:
        self.meter = Meter()
        self.failures = Failures(frontier, errors, args.on_error)
        self.logins = Logins()
        self.items_found = self.items_processed = self.items_failed = self.items_dropped = 0
        #: The hosts with a private address that every request of the crawl may be fetched from.
        self.trusted: AbstractSet[str] | None = None
        self._time_limit = args.time_limit
        self._links = PageLinks(frontier, args.max_links)
        self._frontier = frontier
        self._visits = visits
        self._registrar = registrar
        self._responses = responses
        self._large = large
        self.large_pages = LargePages(large.__len__)
        self._items = items
        #: Called with the reason when a module raises Unfinished: the crawl must stop, its requests
        #: stay pending.
        self.on_unfinished: Callable[[str], object] = str
        frontier.events.on_drop = self.failures.dropped

    def do(self, stage: Stage[T], visit: Visit, datum: T, timer: ModuleTimer) -> None:
        """Carry out *stage* on one datum: the only place where failures are caught."""
        CURRENT_REQUEST.set(visit.request)
        try:
            stage(visit, datum, timer)
        except LeftBehind:
            raise
        except Recalled:
            self._visits.give_back(visit)
        except ModuleError as error:
            if isinstance(error.__cause__, Unfinished):
                self._put_off(visit, error, error.__cause__.reason)
            else:
                self.failures.report(visit, error)
        except NoModule as error:
            self.failures.report(visit, _scheduler_error(visit, "no_module", str(error), error))
        except BaseException as cause:
            self._interrupted(visit, datum, cause)
            raise
        finally:
            CURRENT_REQUEST.set(None)
            if not timer.given_up:
                self._visits.close(visit)

    def _put_off(self, visit: Visit, error: ModuleError, reason: str) -> None:
        """Leave *visit* to the next crawl; this one cannot continue because of *error*."""
        self.failures.report_unfinished(error)
        self._frontier.pause()
        self._visits.give_back(visit)
        self.on_unfinished(reason)

    def abandon(self, stage: Stage[Any], visit: Visit) -> None:
        """Fail *visit*, whose worker was left behind in *stage*, and count its item as failed."""
        self._visits.analyses.leave(visit.taken)
        limit = TimeLimit(self._time_limit)
        reason = f"{limit}, caught the exception that should end it, and was left behind"
        self.failures.report(visit, _scheduler_error(visit, "timeout", reason, limit))
        self.items_failed += stage == self.process

    # -- download ---------------------------------------------------------------------------

    def download(self, visit: Visit, request: Request, timer: ModuleTimer) -> None:
        if visit.taken.failure is not None:
            self._visits.end_download(visit)
            self._end(visit, visit.taken.failure, failed(visit.taken.failure.kind))
            return
        try:
            result = self._fetch(visit, request, timer)
            if isinstance(result, Response):
                self._visits.weigh(visit, len(result.body))
            after = self._frontier.fetched(visit.taken, result)
            if after is Next.ANALYZE:
                if isinstance(result, Response) and _is_start(visit.request):
                    self.meter.count_start(result)
                self._deliver(visit, result)
        finally:
            self._visits.end_download(visit)
        if isinstance(after, Outcome):
            self._end(visit, result, after)

    def _fetch(self, visit: Visit, request: Request, timer: ModuleTimer) -> Response | ModuleError:
        downloader = self._registrar.get(Downloader, timeout=_MODULE_WAIT)
        if request.trusted is not self.trusted:
            request = request.replace(trusted=self.trusted)
        sent = self.logins.sign(request)
        try:
            # Downloads to a file may take longer, and the fetcher has limits of its own for them.
            with timer if request.save_to is None else nullcontext():
                response = downloader.download(sent)
        except ModuleError as error:
            error.request = request
            return error
        if sent is not request:
            response = response.replace(request=request)
        if not visit.taken.is_robots:
            self.meter.count(response)
            if log.isEnabledFor(logging.INFO):
                log_page(response)
        return response

    def _end(self, visit: Visit, result: Response | ModuleError, outcome: Outcome) -> None:
        """Set the *outcome* of *visit*, which ends with its download."""
        visit.outcome = outcome
        if outcome.status == "failed":
            self._deliver(visit, _failure(visit, result, outcome.reason))
        else:
            self.failures.dropped(visit.request, outcome)

    def _deliver(self, visit: Visit, result: Response | ModuleError) -> None:
        """Pass the result of a download to the callback that waits for it, or to an analyzer."""
        if isinstance(result, ModuleError):
            self.failures.report(visit, result)
        awaited = self.failures.awaited.get(visit.request.id)
        if awaited is None:
            if isinstance(result, Response):
                self._pass_on(visit, result)
            elif self._recovering():
                self._visits.hand(visit, result, self._responses)
        elif isinstance(result, Response):
            awaited.set(result)

    def _pass_on(self, visit: Visit, response: Response) -> None:
        """Pass *response* to an analyzer; large ones have a pool and workers of their own."""
        visit.analysis_size = analysis_size(response.body)
        if visit.is_large:
            self._frontier.mark_heavy(visit.taken)
            self._visits.hand(visit, response, self._large)
        else:
            self._visits.hand(visit, response, self._responses)

    # -- analyze ----------------------------------------------------------------------------

    def analyze(self, visit: Visit, datum: Response | ModuleError, timer: ModuleTimer) -> None:
        self._analyze(visit, datum, timer)
        if self.large_pages.resting:
            self.large_pages.note_other()

    def analyze_large(self, visit: Visit, datum: Response, timer: ModuleTimer) -> None:
        view = self._frontier.view
        self.large_pages.rest(lambda: self._visits.ending or view.is_alone(visit.taken))
        with self.large_pages.analysing():
            self._analyze(visit, datum, timer)

    def _analyze(self, visit: Visit, datum: Response | ModuleError, timer: ModuleTimer) -> None:
        self._visits.analyses.enter(visit.taken)
        size = self._visits.memory.counted(visit.analysis_size)
        self._visits.weigh(visit, size)
        try:
            self._gather(visit, self._findings(datum), timer)
        except Unwritable as error:
            raise _scheduler_error(visit, "unwritable", str(error), error) from error
        finally:
            self._visits.weigh(visit, -size)
            self._visits.analyses.leave(visit.taken)

    def _findings(self, datum: Response | ModuleError) -> Generator[Any]:
        if isinstance(datum, Response):
            return self._registrar.get(Analyzer, timeout=_MODULE_WAIT).analyze(datum)
        recovering = self._recovering()
        if not recovering:  # it was removed after the failure was passed on
            raise NoModule("no analyzer that recovers from failures is registered")
        return min(recovering, key=attrgetter("score")).recover(datum)

    def _recovering(self) -> list[Analyzer]:
        """Return the analyzers that accept failed downloads, as soon as any analyzer is registered."""
        registered = self._registrar.all(Analyzer) or [
            self._registrar.get(Analyzer, timeout=_MODULE_WAIT)
        ]
        return [analyzer for analyzer in registered if analyzer.recovers]

    def _gather(self, visit: Visit, findings: Generator[Any], timer: ModuleTimer) -> None:
        # Close the generator at once: a traceback may keep it alive, and the module counts it as
        # work in flight until then.
        with timer, closing(findings):
            number = 0
            for found in findings:
                timer.check()
                if isinstance(found, Links):
                    self._links.admit_many(visit, found)
                    number += len(found.urls)
                elif isinstance(found, Item):
                    with timer.paused():
                        self._visits.hand(visit, found, self._items)
                    self.items_found += 1
                    number += 1
                elif isinstance(found, LostItem):
                    self._lose(found)
                    number += 1
                else:
                    self._links.admit(visit, found)
                    number += 1
                if number >= _FINDINGS_PER_TURN:
                    number = 0
                    give_way()

    def _lose(self, item: LostItem) -> None:
        self.items_found += 1
        if item.failed:
            self.items_failed += 1
        else:
            self.items_dropped += 1

    # -- process ----------------------------------------------------------------------------

    def process(self, visit: Visit, item: Item, timer: ModuleTimer) -> None:
        if not visit.taken.is_over:  # else its page waits again, and will have this item again
            self._process(item, timer)

    def add_item(self, item: Item | None) -> bool:
        """Process an *item* of no page; None is one that was dropped. Return whether it was kept."""
        self.items_found += 1
        if item is None:
            self.items_dropped += 1
            return False
        try:
            return self._process(item, nullcontext())
        except ModuleError as error:
            self.failures.report_item(error)
            raise

    def _process(self, item: Item, timer: AbstractContextManager[object]) -> bool:
        try:
            pipeline = self._registrar.get(Pipeline, timeout=_MODULE_WAIT)
            with timer:
                kept = pipeline.send(item)
        except LeftBehind:
            raise
        except BaseException as error:
            # An item that stop() interrupts has not failed: it is pending, as its request is.
            if isinstance(error, CrawlerError) or not self._visits.ending:
                self.items_failed += 1
            raise
        if kept is None:
            self.items_dropped += 1
        else:
            self.items_processed += 1
        return kept is not None

    # -- failures ---------------------------------------------------------------------------

    def _interrupted(self, visit: Visit, datum: object, cause: BaseException) -> None:
        if self._visits.ending:
            self._visits.give_back(visit)
        else:
            reason = f"the greenlet working on {datum} was killed"
            self.failures.report(visit, _scheduler_error(visit, "killed", reason, cause))


def _is_start(request: Request) -> bool:
    return not request.depth and request.found_on is None


def _failure(visit: Visit, result: Response | ModuleError, kind: str) -> ModuleError:
    """Return the error of a fetch; for a chain of redirects, which has none, create one."""
    if isinstance(result, ModuleError):
        return result
    limit = f"after {counted(len(visit.request.redirects), 'redirect')} (setting: max_redirects)"
    why = limit if kind == "redirect_limit" else "which has redirected here"
    to = f"{result.status} to {result.headers['location']!r:.200}"
    return _scheduler_error(visit, kind, f"{to}, {why}")


def _scheduler_error(
    visit: Visit, kind: str, reason: str, cause: BaseException | None = None
) -> ModuleError:
    error = ModuleError("scheduler", visit.request, reason, kind)
    error.__cause__ = cause
    return error
