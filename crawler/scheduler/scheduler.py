"""Scheduler: init, start, pause, resume, stop; status, idle, errors, summary."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Self

import gevent

from ..data import Request, Response
from ..errors import CrawlerError, Refused, StateError
from ..frontier import ExactSeen, Frontier, HostFigures
from ..module import Analyzer, Downloader, Module, ModuleSummary, Pipeline, Registrar
from .args import DataArgs, ModuleArgs, RequestArgs
from .error_pool import ErrorPool
from .run import Run
from .status import Life, Status
from .summary import ErrorCounts, ItemCounts, LiveSummary, Summary

log = logging.getLogger(__name__)

First = Request | str | Iterable[Request | str]


class Scheduler:
    """
    Crawls from the first requests until nothing is outstanding, or until told to stop.

        with Scheduler() as scheduler:
            scheduler.init(RequestArgs(max_depth=2), DataArgs(), modules)
            scheduler.start("https://example.org/")
            scheduler.join()

    Each start is a new run: it has seen nothing, and its modules count from zero.
    """

    def __init__(self) -> None:
        self._life = Life()
        self._request_args = RequestArgs()
        self._data_args = DataArgs()
        self._module_args: ModuleArgs
        self._run: Run
        self._live_summary = LiveSummary(self.summary)
        #: The limit that stopped the last run, if one did: memory_limit.
        self.stopped_by = ""
        #: Modules may be registered and removed while the scheduler runs.
        self.registrar = Registrar()

    def init(self, request_args: RequestArgs, data_args: DataArgs, module_args: ModuleArgs) -> None:
        """Take the arguments; nothing changes if one of them is wrong."""
        with self._life.step(Status.INITIALIZING, Status.INITIALIZED):
            _check(request_args=(request_args, RequestArgs), data_args=(data_args, DataArgs))
            _check(module_args=(module_args, ModuleArgs))
            registrar = Registrar()
            for module in module_args.modules:
                registrar.register(module)
            # It will see nothing: start() makes one that does, and takes the memory for it.
            idle = Frontier(request_args.scope, seen=ExactSeen())
            run = Run(idle, data_args, module_args, registrar, _errors(data_args))
            if self._initialized:
                self._run.errors.close()
            self._request_args, self._data_args = request_args, data_args
            self._module_args, self.registrar, self._run = module_args, registrar, run

    def start(self, first: First) -> None:
        """
        Begin to crawl at *first*: a request, a URL, or several.

        Raises Refused, with the reason for each, if none of them was admitted.
        """
        with self._life.step(Status.STARTING, Status.STARTED):
            requests = _requests(first)
            run = self._new_run(requests)
            reasons = [(request.url, run.frontier.admit(request)) for request in requests]
            if all(reason for _, reason in reasons) and not run.frontier.resumed:
                raise Refused({url: str(reason) for url, reason in reasons})
            self.stopped_by = ""
            for module in self.registrar.all(Module):
                module.clear()
            run.begin()
            self._run = run
            if self._request_args.journal is not None:
                self._request_args.journal.include("summary", self._live_summary)
        log.info("started with %d requests", len(requests))

    def add(self, request: Request | str) -> bool:
        """Offer one more request to the running crawl; say if it was admitted."""
        self._life.need("add()", Status.STARTED)
        [request] = _requests(request)
        return self._run.frontier.admit(request) is None

    def fetch(self, request: Request | str) -> Response:
        """
        Fetch one page within the running crawl and wait for it: from a parser, or from anywhere.

        It obeys scope, robots.txt and delays as any other, and is not analysed. Raises Refusal
        with the reason if it may not be fetched, and DownloadError if it cannot be.
        """
        self._life.need("fetch()", Status.STARTED)
        [request] = _requests(request)
        return self._run.fetch(request)

    def waiting(self) -> AbstractContextManager[None]:
        """Enter it in a parser that waits for what another does: the crawl goes on meanwhile."""
        self._need_init("waiting()")
        return self._run.waiting()

    def pause(self, host: str | None = None) -> None:
        """Take no new requests (of one *host*); what is in flight is finished."""
        self._life.need("pause()", Status.STARTED)
        self._run.frontier.pause(host)

    def resume(self, host: str | None = None) -> None:
        self._life.need("resume()", Status.STARTED)
        self._run.frontier.resume(host)

    def set_delay(self, host: str, seconds: float) -> None:
        """Leave *seconds* between two requests to *host* from now on, or its Crawl-delay if longer."""
        self._life.need("set_delay()", Status.STARTED)
        self._run.frontier.set_delay(host, seconds)

    def stop(self, timeout: float = 10.0) -> Summary:
        """
        Finish what is in flight within *timeout* seconds, cancel the rest, and return the summary.

        What was not finished is counted as pending there.
        """
        self._not_inside("stop()", "gevent.spawn(scheduler.stop)")
        with self._life.step(Status.STOPPING, Status.STOPPED, on_error=Status.STOPPED):
            self._run.end(timeout)
        self._live_summary.renew()
        if self._request_args.journal is not None:
            self._request_args.journal.commits.write(anyway=True)
        log.info("stopped with %d requests pending", self._run.frontier.view.counts().pending)
        return self.summary()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until nothing is outstanding or the scheduler has stopped; say if nothing is."""
        self._life.need("join()", Status.STARTED, Status.STOPPING, Status.STOPPED)
        self._not_inside("join()", "a greenlet of your own")
        return self._run.frontier.join(timeout)

    def wait(self, *statuses: Status) -> None:
        """Wait until the status is one of *statuses*, or has been since the call."""
        self._life.wait(*statuses)

    @property
    def status(self) -> Status:
        return self._life.status

    @property
    def paused(self) -> bool:
        return self.status is Status.STARTED and self._run.frontier.view.paused

    @property
    def idle(self) -> bool:
        """Whether nothing is outstanding: no request waiting, no page or item being worked on."""
        return not self._initialized or self._run.frontier.view.idle

    def error_chan(self) -> Iterator[CrawlerError]:
        """
        Return a generator of every error from this call on.

        The first caller also gets the errors that nobody has read. It ends when the
        scheduler has stopped and the last error was read.
        """
        self._need_init("error_chan()")
        return self._run.errors.consume()

    def hosts(self, most: int = 20) -> list[HostFigures]:
        """Return how the hosts with the most to do are doing."""
        self._need_init("hosts()")
        return self._run.frontier.view.hosts(most)

    def summary(self) -> Summary:
        self._need_init("summary()")
        run, view = self._run, self._run.frontier.view
        return Summary(
            status=str(self.status),
            paused=self.paused,
            request_args=self._request_figures(),
            data_args=self._data_args,
            module_args=self._module_figures(),
            downloaders=self._modules(Downloader),
            analyzers=self._modules(Analyzer),
            pipelines=self._modules(Pipeline),
            request_pool=run.requests.figures(),
            response_pool=run.responses.figures(),
            item_pool=run.items.figures(),
            error_pool=run.errors.figures(),
            urls=view.counts(),
            retried=view.retried,
            samples=view.samples(),
            moved=view.moved,
            waiting_for=view.waiting_for(),
            next_wake=view.next_wake(),
            queued=len(view),
            resting=view.resting(),
            cpu=run.meter.cpu,
            items=ItemCounts(
                run.stages.items_found,
                run.stages.items_processed,
                run.stages.items_failed,
                run.stages.items_dropped,
            ),
            errors=ErrorCounts(run.errors.reported, run.errors.dropped),
            responses=run.meter.responses,
            bytes=run.meter.bytes,
            status_codes=dict(sorted(run.meter.statuses.items())),
            latency=run.meter.latency(),
            rate=run.meter.rate,
            elapsed=run.meter.elapsed,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self.status is Status.STARTED:
            self.stop()
        elif self.status is Status.STOPPING:
            self.wait(Status.STOPPED)

    def __repr__(self) -> str:
        if not self._initialized:
            return f"<Scheduler {self.status}>"
        state = "paused" if self.paused else self.status
        counts = self._run.frontier.view.counts()
        return (
            f"<Scheduler {state}, {counts.pending} pending, {counts.done} done, {self.registrar}>"
        )

    @property
    def _initialized(self) -> bool:
        return hasattr(self, "_run")

    def _need_init(self, what: str) -> None:
        if not self._initialized:
            raise StateError(
                f"{what} needs a scheduler that is initialized; this one is {self.status}"
            )

    def _not_inside(self, what: str, remedy: str) -> None:
        if self._initialized and self._run.works_in(gevent.getcurrent()):
            raise StateError(
                f"{what} called from inside a module would wait for itself: use {remedy}"
            )

    def _new_run(self, first: list[Request]) -> Run:
        """Return a run whose errors go to whoever already waits for them."""
        errors = self._run.errors
        if errors.closed:
            errors = _errors(self._data_args)
        frontier = self._request_args.frontier(request.url for request in first)
        run = Run(frontier, self._data_args, self._module_args, self.registrar, errors)
        run.memory.on_full = self._stop_at
        run.stages.on_unfinished = partial(self._stop_at, "output_closed")
        journal = self._request_args.journal
        if journal is not None:
            if (figures := journal.store.fact("run")) is not None:
                run.continue_from(figures)
            journal.include("run", run.figures)
        return run

    def _stop_at(self, limit: str) -> None:
        if self.status is Status.STARTED:
            self.stopped_by = limit
            gevent.spawn(self.stop)

    def _modules(self, kind: type[Module]) -> tuple[ModuleSummary, ...]:
        return tuple(module.summary() for module in self.registrar.all(kind))

    def _request_figures(self) -> dict[str, Any]:
        args = self._request_args
        rules = _figures(args, "accepted_domains", "max_depth", "include", "exclude")
        return rules | _figures(args.politeness, "per_host", "delay", "robots")

    def _module_figures(self) -> dict[str, Any]:
        args = self._module_args
        sizes = {
            "downloader_list_size": len(args.downloaders),
            "analyzer_list_size": len(args.analyzers),
            "pipeline_list_size": len(args.pipelines),
        }
        workers = ("download_workers", "analyze_workers", "pipeline_workers", "time_limit")
        return sizes | _figures(args, *workers)


def _errors(args: DataArgs) -> ErrorPool:
    return ErrorPool(args.error_buffer_cap, args.error_max_buffer_number)


def _figures(args: object, *names: str) -> dict[str, Any]:
    return {name: getattr(args, name) for name in names}


def _check(**arguments: tuple[object, type]) -> None:
    for name, (value, kind) in arguments.items():
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be a {kind.__name__}, not {value!r}")


def _requests(first: First) -> list[Request]:
    if isinstance(first, Request | str):
        first = [first]
    if not isinstance(first, Iterable):
        raise ValueError(f"a request, a URL or several are needed, not {first!r}")
    return [Request(one) if isinstance(one, str) else _a_request(one) for one in first]


def _a_request(one: object) -> Request:
    if not isinstance(one, Request):
        raise ValueError(f"a first request must be a Request or a URL, not {one!r}")
    return one
