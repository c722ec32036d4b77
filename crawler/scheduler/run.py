"""Run: the pools and the greenlets that move data between them, from one start to its stop."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from gevent.event import AsyncResult
from gevent.pool import Group

from .._words import counted
from ..buffer import Pool
from ..data import Item, Request, Response, new_id
from ..errors import FrontierClosed, ModuleError, Refusal
from ..frontier import FrontierContract
from ..module import Registrar
from .args import DataArgs, ModuleArgs
from .error_pool import ErrorPool
from .stages import Stages
from .time_budget import time_limits
from .visits import Visit, Visits
from .watchdog import Watchdog
from .workers import Workers, keep_running

log = logging.getLogger(__name__)

#: The priority of a request that a callback waits for: before all others of its host.
_FIRST = 1_000_000
#: The counters of items in Stages: found, processed, failed, dropped.
ITEM_COUNTS = ("items_found", "items_processed", "items_failed", "items_dropped")
#: Seconds that a killed greenlet has to end before the run ends without it.
_UNWIND = 5.0


class Run:
    """
    Moves data between the pools, through modules that the registrar chooses.

        frontier ──▶ requests ──download──▶ responses ──analyze──▶ items ──process──▶
            ▲                                   │
            └──────────────admit────────────────┘

    Large pages have a pool beside *responses*, and are analysed one at a time.

    A full pool blocks its producers; the frontier never does, so the cycle cannot deadlock.
    Exceptions of modules are reported to *errors*.
    """

    def __init__(
        self,
        frontier: FrontierContract,
        data: DataArgs,
        modules: ModuleArgs,
        registrar: Registrar,
        errors: ErrorPool,
    ) -> None:
        self.frontier = frontier
        self.requests = Pool[tuple[Visit, Request]](data.req_buffer_cap, data.req_max_buffer_number)
        self.responses = Pool[tuple[Visit, Response | ModuleError]](
            data.resp_buffer_cap, data.resp_max_buffer_number
        )
        self.large = Pool[tuple[Visit, Response]](data.resp_buffer_cap, data.resp_max_buffer_number)
        self.items = Pool[tuple[Visit, Item]](data.item_buffer_cap, data.item_max_buffer_number)
        self.errors = errors
        self._args = modules
        self._visits = Visits(frontier, modules.memory, modules.download_workers, modules.receiving)
        self.memory = self._visits.memory
        self.stages = Stages(
            frontier,
            self._visits,
            registrar,
            errors,
            modules,
            responses=self.responses,
            large=self.large,
            items=self.items,
        )
        self.meter = self.stages.meter
        self._feeders = Group()
        self._workers = Workers(
            self._visits, modules.time_limit, do=self.stages.do, abandon=self.stages.abandon
        )
        frontier.events.on_recall = self._workers.recall
        self._watchdog = Watchdog(modules.time_limit, self._workers.working_on, modules.on_stuck)

    def begin(self) -> None:
        args, stages = self._args, self.stages
        self.meter.start()
        self._watchdog.start()
        if self.memory.limits.of_process:
            self._feeders.spawn(self.memory.watch)
        keep_running(self._feeders, self._visits, self._feed)
        for watch in time_limits(self.frontier, self.meter, self.memory):
            self._feeders.spawn(watch)
        self._workers.start(self.requests, stages.download, args.download_workers)
        self._workers.start(self.responses, stages.analyze, args.analyze_workers)
        self._workers.start(self.large, stages.analyze_large, self._large_workers)
        self._workers.start(self.items, stages.process, args.pipeline_workers)

    def end(self, timeout: float) -> None:
        """Finish the work in flight within *timeout* seconds, cancel the rest, end every greenlet."""
        self._visits.ending = True
        self.stages.large_pages.note_other()
        try:
            self.frontier.pause()
            self._feeders.kill(timeout=_UNWIND)
            self._visits.give_back_all(self.requests)
            self._visits.end(timeout)
        finally:
            self._cancel()

    def fetch(self, request: Request) -> Response:
        """
        Fetch *request* as part of the crawl and wait for its response.

        Raises Refusal, or the error of the download. While a worker waits here, a substitute
        works in its place: the crawl continues.
        """
        visit = self._workers.own_visit
        if visit is not None:
            page = visit.request
            request = request.replace(depth=page.depth, found_on=page.url)
        request = request.replace(id=new_id(), priority=_FIRST)
        awaited: AsyncResult[Response] = AsyncResult()
        self.stages.failures.awaited[request.id] = awaited
        try:
            found_on = None if visit is None else visit.taken
            reason = self.frontier.admit(request, found_on, is_awaited=True)
            if reason is not None:
                raise Refusal(reason, request.url)
            with self.waiting():
                return awaited.get()  # type: ignore[return-value]
        finally:
            del self.stages.failures.awaited[request.id]

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context in which a worker may wait for another: a substitute works in its place."""
        return self._workers.waiting()

    def has_worker(self, greenlet: object) -> bool:
        return greenlet in self._workers

    @property
    def _large_workers(self) -> int:
        """How many large pages are analysed at a time: one in each process."""
        return max(1, sum(analyzer.mid.address is not None for analyzer in self._args.analyzers))

    @property
    def analysing(self) -> Request | None:
        """The request that a module works on at this moment; any thread may read it."""
        return self._workers.working_on()

    def figures(self) -> dict[str, Any]:
        """Return the figures for continue_from(), as JSON values."""
        counts = {name: getattr(self.stages, name) for name in ITEM_COUNTS}
        return {"meter": self.meter.figures()} | counts

    def continue_from(self, figures: Mapping[str, Any]) -> None:
        """Continue to count from the *figures* of an earlier run."""
        self.meter.continue_from(figures["meter"])
        for name in ITEM_COUNTS:
            setattr(self.stages, name, figures[name])

    def _feed(self) -> None:
        """Begin visits, at most one for each download worker that is free."""
        while True:
            try:
                visit = self._visits.take()
            except FrontierClosed:
                return
            try:
                self._visits.hand(visit, visit.request, self.requests)
            except BaseException:
                self._visits.give_back(visit)
                raise
            finally:
                self._visits.close(visit)

    def _cancel(self) -> None:
        for pool in (self.requests, self.responses, self.large, self.items):
            self._visits.give_back_all(pool)
            pool.close()
        try:
            self._workers.kill(timeout=_UNWIND)
            if len(self._workers):
                log.warning(
                    "%s did not end: a module catches GreenletExit and continues",
                    counted(len(self._workers), "worker"),
                )
        finally:
            self._watchdog.stop()
            self.memory.close()
            self.frontier.close()
            self.errors.close()
            self.meter.stop()
