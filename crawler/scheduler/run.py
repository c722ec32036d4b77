"""Run: the pumps between the pools, from one start to its stop."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

import gevent
from gevent.event import AsyncResult, Event
from gevent.lock import Semaphore
from gevent.pool import Group

from ..buffer import Pool
from ..data import Item, Request, Response, new_id
from ..errors import (
    CrawlerError,
    FrontierClosed,
    ModuleError,
    NoModule,
    PoolClosed,
    Refusal,
    TimeLimit,
    Unwritable,
)
from ..frontier import DONE, Frontier, Next, Outcome, failed
from ..module import Analyzer, Downloader, Pipeline, Registrar
from .alarm import Alarm
from .args import DataArgs, ModuleArgs
from .errors import ErrorPool
from .memory import MemoryGuard
from .meter import Meter
from .watchdog import Watchdog

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Seconds a datum waits for a module of its kind to be registered.
_MODULE_WAIT = 60.0
#: The priority of what a callback waits for: before everything else of its host.
_FIRST = 1_000_000
#: What is counted of items.
_ITEMS = ("items_found", "items_processed", "items_failed", "items_dropped")
#: After how many findings of one page the others have a turn.
_TURN = 256
#: Seconds a killed greenlet gets to unwind before it is left behind.
_UNWIND = 5.0


class Visit:
    """
    A taken request on its way to being settled.

    *open* counts its data in pools and in workers' hands: its request, its response,
    each of its items. When the last is gone it ends with *outcome*; None means that the
    request went back to the frontier. *size* is the bytes of its response's body.
    """

    __slots__ = ("open", "outcome", "request", "size")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.open = 0
        self.size = 0
        self.outcome: Outcome | None = DONE

    def fail(self, kind: str) -> None:
        """Remember the first failure."""
        if self.outcome is DONE:
            self.outcome = failed(kind)


class Run:
    """
    Moves data between the pools, through modules the registrar chooses.

        frontier ──▶ requests ──download──▶ responses ──analyze──▶ items ──process──▶
            ▲                                   │
            └──────────────admit────────────────┘

    The pools block whoever fills them; the frontier, which closes the circle, never does.
    Whatever a module raises goes to *errors*.
    """

    def __init__(
        self,
        frontier: Frontier,
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
        self.items = Pool[tuple[Visit, Item]](data.item_buffer_cap, data.item_max_buffer_number)
        self.errors = errors
        self.registrar = registrar
        self.meter = Meter()
        self.items_found = self.items_processed = self.items_failed = self.items_dropped = 0
        self._args = modules
        self._stopping = False
        self._visits = 0
        self._quiet = Event()
        self._quiet.set()
        self._slots = Semaphore(modules.download_workers)
        self._feeders = Group()
        self._workers = Group()
        #: By id, who waits for a request that fetch() has let in.
        self._awaited: dict[str, AsyncResult[Response]] = {}
        #: What each worker greenlet has in hand.
        self._at_work: dict[Any, tuple[Visit, Alarm]] = {}
        #: How many workers wait, stood in for.
        self._standing = 0
        self._room = Event()
        self.memory = MemoryGuard(modules.memory, self._room.set)
        working_on = partial(_worked_on, self._at_work)
        self._watchdog = Watchdog(modules.time_limit, working_on, modules.on_stuck)
        frontier.on_drop = self._dropped

    def begin(self) -> None:
        args = self._args
        self.meter.start()
        self._watchdog.start()
        if self.memory.limits.of_process:
            self._feeders.spawn(self.memory.watch)
        self._keep(self._feeders, self._feed)
        budget = self.frontier.budget
        if budget.seconds is not None:
            self._feeders.spawn(self._end_after, budget.seconds)
        if budget.min_rate is not None:
            self._feeders.spawn(self._end_below, budget.min_rate, budget.patience)
        self._pump(self.requests, self._download, args.download_workers)
        self._pump(self.responses, self._analyze, args.analyze_workers)
        self._pump(self.items, self._process, args.pipeline_workers)

    def end(self, timeout: float) -> None:
        """Finish what is in flight within *timeout* seconds, cancel the rest, leave nothing running."""
        self._stopping = True
        try:
            self.frontier.pause()
            self._feeders.kill(timeout=_UNWIND)
            self._return(self.requests)
            self._quiet.wait(timeout)
        finally:
            self._cancel()

    def _cancel(self) -> None:
        for pool in (self.requests, self.responses, self.items):
            self._return(pool)
            pool.close()
        try:
            self._workers.kill(timeout=_UNWIND)
            if self._workers:
                log.warning(
                    "%d workers would not end: a module swallows GreenletExit", len(self._workers)
                )
        finally:
            self._watchdog.stop()
            self.memory.close()
            self.frontier.close()
            self.errors.close()
            self.meter.stop()

    def fetch(self, request: Request) -> Response:
        """
        Fetch *request* as part of the crawl, and wait for it; raise what became of it instead.

        A worker that waits is stood in for, so that the crawl goes on whatever waits.
        """
        visit, _ = self._at_work.get(gevent.getcurrent(), (None, None))
        if visit is not None:
            page = visit.request
            request = request.replace(depth=page.depth, found_on=page.url)
        request = request.replace(id=new_id(), priority=_FIRST)
        awaited = self._awaited[request.id] = AsyncResult()
        try:
            within = None if visit is None else visit.request.id
            reason = self.frontier.admit(request, within=within)
            if reason is not None:
                raise Refusal(reason)
            with self.waiting():
                return awaited.get()  # type: ignore[return-value]
        finally:
            del self._awaited[request.id]

    def waiting(self) -> AbstractContextManager[None]:
        """Stand in for the worker that enters this, while it waits for another to get on."""
        _, alarm = self._at_work.get(gevent.getcurrent(), (None, None))
        return nullcontext() if alarm is None else self._stood_in(alarm)

    def works_in(self, greenlet: object) -> bool:
        return any(greenlet is worker for worker in self._workers)

    @property
    def analysing(self) -> Request | None:
        """The request that a module works on at this very moment; any thread may ask."""
        return _worked_on(self._at_work)

    def figures(self) -> dict[str, Any]:
        """Return all that go_on_from() needs, as JSON knows it."""
        return {"meter": self.meter.figures()} | {name: getattr(self, name) for name in _ITEMS}

    def go_on_from(self, figures: Mapping[str, Any]) -> None:
        """Count on from the *figures* of an earlier run."""
        self.meter.go_on_from(figures["meter"])
        for name in _ITEMS:
            setattr(self, name, figures[name])

    # -- pumps ------------------------------------------------------------------------------

    def _pump(
        self, pool: Pool[tuple[Visit, T]], handle: Callable[[Visit, T, Alarm], None], workers: int
    ) -> None:
        for _ in range(workers):
            self._keep(self._workers, self._work, pool, handle)

    def _keep(self, group: Group, function: Callable[..., None], *args: Any) -> None:
        """Run *function* in a greenlet of *group*, and again if anything ends it early."""

        def again(_: object) -> None:
            if not self._stopping:
                self._keep(group, function, *args)

        greenlet = group.spawn(function, *args)
        greenlet.link(again)

    def _feed(self) -> None:
        """
        Take requests for the download workers, never more than there are of them.

        A request that is due is then fetched at once: the distances the frontier keeps
        between requests are those the host sees.
        """
        while True:
            self._slots.acquire()
            try:
                self._wait_for_room()
                self._feed_one()
            except FrontierClosed:
                return
            except BaseException:
                self._slots.release()
                raise

    def _feed_one(self) -> None:
        visit = Visit(self.frontier.take())
        self._open(visit)
        try:
            self._hand(visit, visit.request, self.requests)
        except BaseException:
            self._give_back(visit)
            raise
        finally:
            self._close(visit)

    def _wait_for_room(self) -> None:
        """Wait while memory is short, as long as anything moves that may leave some."""
        while self.memory.short and self._visits > self._standing:
            self._room.clear()
            self._room.wait()

    def _end_after(self, seconds: float) -> None:
        gevent.sleep(seconds)
        self.frontier.cut_off("time_limit")

    def _end_below(self, rate: float, patience: float) -> None:
        slow = False
        while not slow:
            before = self.meter.responses
            gevent.sleep(patience)
            pages = self.meter.responses - before
            held = self.frontier.paused or self.memory.short
            slow = pages < rate * patience and not held
        self.frontier.cut_off("slow")

    def _work(
        self,
        pool: Pool[tuple[Visit, T]],
        handle: Callable[[Visit, T, Alarm], None],
        until: Event | None = None,
    ) -> None:
        me = gevent.getcurrent()
        give_up = partial(self._leave_behind, me, pool, handle)
        alarm = Alarm(self._args.time_limit, give_up)
        try:
            while until is None or not until.is_set():
                visit, datum = pool.get()
                self._at_work[me] = (visit, alarm)
                self._do(visit, datum, handle, alarm)
                if alarm.given_up:
                    return
                del self._at_work[me]
        except PoolClosed:
            return
        finally:
            self._at_work.pop(me, None)
            alarm.close()

    @contextmanager
    def _stood_in(self, alarm: Alarm) -> Iterator[None]:
        """Let another greenlet analyse while this one waits; it ends with what it has in hand."""
        back = Event()
        self._standing += 1
        self._room.set()
        substitute = self._workers.spawn(self._work, self.responses, self._analyze, back)
        try:
            with alarm.paused():
                yield
        finally:
            self._standing -= 1
            back.set()
            gevent.get_hub().loop.run_callback(self._dismiss, substitute)

    def _dismiss(self, substitute: gevent.Greenlet[..., None]) -> None:
        """Run by the hub: by now the substitute may have something in hand, and then finishes it."""
        if substitute not in self._at_work:
            substitute.throw(gevent.GreenletExit)

    def _do(
        self, visit: Visit, datum: T, handle: Callable[[Visit, T, Alarm], None], alarm: Alarm
    ) -> None:
        """Let *handle* work on one datum: the one place where failures are caught."""
        try:
            handle(visit, datum, alarm)
        except ModuleError as error:
            self._report(visit, error)
        except NoModule as error:
            self._report(visit, _of_scheduler(visit, "no_module", str(error), error))
        except BaseException as cause:
            self._interrupted(visit, datum, cause)
            raise
        finally:
            if not alarm.given_up:
                self._close(visit)

    def _leave_behind(self, worker: object, pool: Pool[Any], handle: Callable[..., None]) -> None:
        """Go on without *worker*, in a module that swallows its time limit; run by the hub."""
        visit, _ = self._at_work.pop(worker)
        self._workers.spawn(self._take_over, visit, pool, handle)

    def _take_over(self, visit: Visit, pool: Pool[Any], handle: Callable[..., None]) -> None:
        """End *visit*, and work in the place of the one who was left behind with it."""
        limit = TimeLimit(self._args.time_limit)
        reason = f"{limit}, swallowed what said so, and was left behind"
        self._report(visit, _of_scheduler(visit, "timeout", reason, limit))
        self._close(visit)
        self.items_failed += handle == self._process
        if handle == self._download:
            self._slots.release()
        if not self._stopping:
            self._work(pool, handle)

    def _interrupted(self, visit: Visit, datum: object, cause: BaseException) -> None:
        if self._stopping:
            self._give_back(visit)
        else:
            reason = f"the greenlet working on {datum} was killed"
            self._report(visit, _of_scheduler(visit, "killed", reason, cause))

    def _report(self, visit: Visit, error: ModuleError) -> None:
        visit.fail(error.kind)
        awaited = self._awaited.get(visit.request.id)
        if awaited is not None:
            awaited.set_exception(error)
        log.debug("%s", error)
        _forget_locals(error)
        self.errors.report(error)

    # -- stages -----------------------------------------------------------------------------

    def _download(self, visit: Visit, request: Request, alarm: Alarm) -> None:
        try:
            result = self._fetch(request, alarm)
            if alarm.given_up:
                return
            self._weigh(visit, result)
            outcome = self.frontier.fetched(request, result)
            if outcome is Next.ANALYZE and isinstance(result, Response):
                self._deliver(visit, result)
                return
        finally:
            if not alarm.given_up:
                self._slots.release()
        visit.outcome = outcome if isinstance(outcome, Outcome) else None
        if visit.outcome is None:
            return
        if visit.outcome.status == "failed":
            self._deliver(visit, _failure(visit, result, visit.outcome.reason))
        else:
            self._dropped(request, visit.outcome)

    def _deliver(self, visit: Visit, result: Response | ModuleError) -> None:
        """Pass the end of a download on to whoever is to have it."""
        if isinstance(result, ModuleError):
            self._report(visit, result)
        awaited = self._awaited.get(visit.request.id)
        if awaited is None:
            if isinstance(result, Response) or self._recovers():
                self._hand(visit, result, self.responses)
        elif isinstance(result, Response):
            awaited.set(result)

    def _recovers(self) -> bool:
        return self.registrar.get(Analyzer, timeout=_MODULE_WAIT).recovers

    def _dropped(self, request: Request, outcome: Outcome) -> None:
        """Tell whoever waits for *request* that it will not be fetched."""
        awaited = self._awaited.get(request.id)
        if awaited is not None:
            awaited.set_exception(Refusal(outcome.reason))

    def _fetch(self, request: Request, alarm: Alarm) -> Response | ModuleError:
        downloader = self.registrar.get(Downloader, timeout=_MODULE_WAIT)
        try:
            with alarm:
                response = downloader.download(request)
        except ModuleError as error:
            return error
        if not self.frontier.is_question(request):
            self.meter.count(response)
        return response

    def _analyze(self, visit: Visit, datum: Response | ModuleError, alarm: Alarm) -> None:
        analyzer = self.registrar.get(Analyzer, timeout=_MODULE_WAIT)
        if isinstance(datum, Response):
            findings = analyzer.analyze(datum, self.frontier.turns_away)
        else:
            findings = analyzer.recover(datum)
        self.frontier.begin_analysis(visit.request)
        try:
            self._gather(visit, findings, alarm)
        except Unwritable as error:
            raise _of_scheduler(visit, "unwritable", str(error), error) from error
        finally:
            self.frontier.end_analysis()

    def _gather(self, visit: Visit, findings: Generator[Any], alarm: Alarm) -> None:
        # Closed at once: a traceback may keep a generator, and its place in the counts, alive.
        with alarm, closing(findings):
            for number, found in enumerate(findings, 1):
                if not number % _TURN:
                    gevent.sleep(0)
                if alarm.given_up:
                    return
                if isinstance(found, Item):
                    with alarm.paused():
                        self._hand(visit, found, self.items)
                    self.items_found += 1
                else:
                    self.frontier.admit(found)

    def _process(self, _: Visit, item: Item, alarm: Alarm) -> None:
        try:
            pipeline = self.registrar.get(Pipeline, timeout=_MODULE_WAIT)
            with alarm:
                kept = pipeline.send(item)
        except BaseException as error:
            # What stop() interrupts is not failed but pending, as its request is.
            if (isinstance(error, CrawlerError) or not self._stopping) and not alarm.given_up:
                self.items_failed += 1
            raise
        if alarm.given_up:
            return
        if kept is None:
            self.items_dropped += 1
        else:
            self.items_processed += 1

    # -- visits -----------------------------------------------------------------------------

    def _hand(self, visit: Visit, datum: T, pool: Pool[tuple[Visit, T]]) -> None:
        visit.open += 1
        try:
            pool.put((visit, datum))
        except BaseException:
            visit.open -= 1
            raise

    def _open(self, visit: Visit) -> None:
        visit.open += 1
        self._visits += 1
        self._quiet.clear()

    def _close(self, visit: Visit) -> None:
        visit.open -= 1
        if visit.open:
            return
        if visit.outcome is not None:
            self.frontier.settle(visit.request, visit.outcome)
            visit.outcome = None
        self._visits -= 1
        self.memory.held -= visit.size
        self._room.set()
        if not self._visits:
            self._quiet.set()

    def _weigh(self, visit: Visit, result: Response | ModuleError) -> None:
        if isinstance(result, Response):
            visit.size = len(result.body)
            self.memory.held += visit.size

    def _give_back(self, visit: Visit) -> None:
        if visit.outcome is not None:
            visit.outcome = None
            self.frontier.put_back(visit.request)

    def _return(self, pool: Pool[tuple[Visit, Any]]) -> None:
        """Give the requests of all that waits in *pool* back to the frontier."""
        while len(pool):
            visit, _ = pool.get()
            self._give_back(visit)
            self._close(visit)


def _worked_on(at_work: Mapping[Any, tuple[Visit, Alarm]]) -> Request | None:
    """
    Return the request that the greenlet which runs has in hand.

    Of all that have begun it alone has no frame to come back to: nothing needs to be noted
    for this, and it is right after every switch.
    """
    workers = list(at_work.items())
    return next((visit.request for one, (visit, _) in workers if one.gr_frame is None), None)


def _forget_locals(error: BaseException) -> None:
    """Let go of the pages that tracebacks keep alive: there may be any number of errors."""
    # Where it was caught says nothing, and that frame cannot be cleared: it is at work.
    error.__traceback__ = None
    known: set[int] = set()
    waiting = [error.__cause__]
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in known:
            continue
        known.add(id(cause))
        traceback.clear_frames(cause.__traceback__)
        waiting.append(cause.__cause__)
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions


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
