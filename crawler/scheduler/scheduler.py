"""Scheduler: init, start, pause, resume, stop; status, idle, errors, summary."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Self

import gevent

from .. import url as urls
from .._words import counted
from ..data import Item, Links, Request, Response, is_item
from ..errors import CrawlerError, Refused, StateError
from ..frontier import ExactSeen, Frontier, HostFigures, cut_off_by
from ..module import Module, Registrar
from ..module.errors_by_line import ErrorLine
from .args import DataArgs, ModuleArgs, RequestArgs
from .error_pool import ErrorPool
from .run import Run
from .status import Life, Status
from .summary import LiveSummary, Summary, summarize

log = logging.getLogger(__name__)

First = Request | str | Iterable[Request | str]
#: The URL of the request of an item that was found on no page.
_NO_PAGE = "about:blank"


class Scheduler:
    """
    Crawls from the first requests until nothing is outstanding, or until stop() is called.

        with Scheduler() as scheduler:
            scheduler.init(RequestArgs(max_depth=2), DataArgs(), modules)
            scheduler.start("https://example.org/")
            scheduler.join()

    Each start is a new run: it has seen no URL, and its modules count from zero.

    It has more than 20 methods because it is the whole interface to a crawl; the work is done
    by its Run.
    """

    def __init__(self) -> None:
        self._life = Life()
        self._request_args = RequestArgs()
        self._data_args = DataArgs()
        self._module_args: ModuleArgs
        self._run: Run
        self._live_summary = LiveSummary(self.summary)
        #: What stopped the last run, unless it was a caller: memory_limit, output_closed or
        #: what a file of an item could not be had for.
        self.stopped_by = ""
        #: Modules may be registered and removed while the scheduler runs.
        self.registrar = Registrar()

    def init(self, request_args: RequestArgs, data_args: DataArgs, module_args: ModuleArgs) -> None:
        """Set the arguments; nothing changes if one of them is invalid."""
        with self._life.step(Status.INITIALIZING, Status.INITIALIZED):
            _check(request_args=(request_args, RequestArgs), data_args=(data_args, DataArgs))
            _check(module_args=(module_args, ModuleArgs))
            registrar = Registrar()
            for module in module_args.modules:
                registrar.register(module)
            # This frontier stays empty: start() creates the real one, which needs memory for its filter.
            idle = Frontier(request_args.scope, seen=ExactSeen())
            run = Run(idle, data_args, module_args, registrar, _error_pool(data_args))
            if self._initialized:
                self._run.errors.close()
            self._request_args, self._data_args = request_args, data_args
            self._module_args, self.registrar, self._run = module_args, registrar, run

    def start(self, first: First) -> None:
        """
        Start to crawl at *first*: a request, a URL, or several of them.

        A host that they name by its address, or as localhost, is trusted by all requests of the
        run, unless a request says itself which hosts are. Other hosts with a private address
        are for the downloaders to allow.

        Raises Refused, with the reason for each, if none of them was admitted.
        """
        with self._life.step(Status.STARTING, Status.STARTED):
            requests = _requests(first)
            run = self._new_run(requests)
            requests = list(map(run.stages.logins.learn, requests))
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
        log.info("started with %s", counted(len(requests), "request"))

    def add(self, request: Request | str) -> bool:
        """Offer one more request to the running crawl; return whether it was admitted."""
        self._life.need("add()", Status.STARTED)
        [request] = _requests(request)
        added: Request | None = self._passed(request)
        if added is None:
            self.turn_away(request.url, "middleware")
            return False
        return self._run.frontier.admit(self._run.stages.logins.learn(added)) is None

    def turn_away(self, url: str, reason: str) -> None:
        """Count a first URL that is not fetched, for a *reason* that the frontier does not know."""
        self._life.need("turn_away()", Status.STARTED)
        self._run.frontier.admit_many(Links([url], 0, "", reason))

    def add_item(self, value: Any) -> bool:
        """
        Process an item that was found on no page, in this greenlet; return whether it was kept.

        Raises PipelineError, after that was reported and counted, if a processor fails.
        """
        self._life.need("add_item()", Status.STARTED)
        if not is_item(value):
            raise ValueError(f"an item must be a mapping or a dataclass, not {value!r:.200}")
        origin = Request(_NO_PAGE)
        passed = self._passed(value)
        kept = self._run.stages.add_item(None if passed is None else Item(passed, origin))
        if self._request_args.journal is not None:
            self._request_args.journal.fetched_aside(origin)
        return kept

    def _passed(self, added: Any) -> Any:
        on_add = self._module_args.on_add
        return added if on_add is None else on_add(added)

    def fetch(self, request: Request | str) -> Response:
        """
        Fetch one page as part of the running crawl and wait for it; parsers may call this too.

        Scope, robots.txt and delays apply as to any other page; no parser gets it. Raises
        Refusal with the reason if the page may not be fetched, and DownloadError if its
        download fails. While the scheduler stops, it ends the worker that calls it: the page that the
        worker has stays pending.
        """
        if self.status is Status.STOPPING and self._run.has_worker(gevent.getcurrent()):
            raise gevent.GreenletExit
        self._life.need("fetch()", Status.STARTED)
        [request] = _requests(request)
        return self._run.fetch(request)

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context in which a parser may wait for another one: the crawl continues meanwhile."""
        self._need_init("waiting()")
        return self._run.waiting()

    def pause(self, host: str | None = None) -> None:
        """Take no more requests (of one *host*); those in flight are finished."""
        self._life.need("pause()", Status.STARTED)
        self._run.frontier.pause(host)

    def resume(self, host: str | None = None) -> None:
        self._life.need("resume()", Status.STARTED)
        self._run.frontier.resume(host)

    def set_delay(self, host: str, seconds: float) -> None:
        """Wait *seconds* between two requests to *host* from now on, or its Crawl-delay if longer."""
        self._life.need("set_delay()", Status.STARTED)
        self._run.frontier.set_delay(host, seconds)

    def stop(self, timeout: float = 10.0) -> Summary:
        """
        Finish the work in flight within *timeout* seconds, cancel the rest, return the summary.

        Requests that were not finished are counted as pending there.
        """
        self._refuse_inside("stop()", "gevent.spawn(scheduler.stop)")
        with self._life.step(Status.STOPPING, Status.STOPPED, on_error=Status.STOPPED):
            self._run.end(timeout)
        self._live_summary.renew()
        if self._request_args.journal is not None:
            self._request_args.journal.write_figures()
        pending = self._run.frontier.view.counts().pending
        log.info("stopped with %s pending", counted(pending, "request"))
        return self.summary()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until nothing is outstanding or the scheduler has stopped; return whether nothing is."""
        self._life.need("join()", Status.STARTED, Status.STOPPING, Status.STOPPED)
        self._refuse_inside("join()", "a greenlet of your own")
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
        """Whether nothing is outstanding: no request waits, no page or item is in a stage."""
        return not self._initialized or self._run.frontier.view.idle

    def error_chan(self) -> Iterator[CrawlerError]:
        """
        Return a generator of every error from this call on.

        The first caller also gets the errors that nobody has read. The generator ends when the
        scheduler has stopped and the last error was read.
        """
        self._need_init("error_chan()")
        return self._run.errors.consume()

    def hosts(self, most: int = 20) -> list[HostFigures]:
        """Return the figures of the *most* hosts with the most requests waiting or in flight."""
        self._need_init("hosts()")
        return self._run.frontier.view.hosts(most)

    def host_states(self) -> Counter[str]:
        """Return how many hosts have requests in flight, are ready, resting, waiting or idle."""
        self._need_init("host_states()")
        return self._run.frontier.view.host_states()

    def error_lines(self, most: int = 20) -> list[ErrorLine]:
        """Return the *most* lines of callbacks and pipelines with the most errors."""
        self._need_init("error_lines()")
        return [replace(line) for line in self._run.stages.failures.by_line.most(most)]

    def summary(self) -> Summary:
        self._need_init("summary()")
        return summarize(
            self._run,
            self.registrar,
            (self._request_args, self._data_args, self._module_args),
            status=str(self.status),
            reason=self._reason(),
            paused=self.paused,
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

    def _reason(self) -> str:
        counts = self._run.frontier.view.counts()
        ended = self.status is Status.STOPPED
        if self.stopped_by or (ended and counts.pending):
            return self.stopped_by or "stopped"
        return cut_off_by(counts) or ("finished" if ended else "")

    @property
    def _initialized(self) -> bool:
        return hasattr(self, "_run")

    def _need_init(self, call: str) -> None:
        if not self._initialized:
            self._life.refuse(call)

    def _refuse_inside(self, call: str, remedy: str) -> None:
        if self._initialized and self._run.has_worker(gevent.getcurrent()):
            raise StateError(
                f"{call} called from inside a module would wait for itself: use {remedy}"
            )

    def _new_run(self, first: list[Request]) -> Run:
        """Return a new run; its errors go to the consumers that wait for them already."""
        errors = self._run.errors
        if errors.closed:
            errors = _error_pool(self._data_args)
        urls = (request.url for request in first)
        frontier = self._request_args.frontier(urls, self._module_args.download_workers)
        run = Run(frontier, self._data_args, self._module_args, self.registrar, errors)
        run.stages.trusted = _trusted_hosts(first)
        run.memory.on_full = self._stop_because
        run.stages.on_unfinished = self._stop_because
        journal = self._request_args.journal
        if journal is not None:
            if (figures := journal.fact("run")) is not None:
                run.continue_from(figures)
            journal.include("run", run.figures)
            if (kept := journal.fact("errors")) is not None:
                run.stages.failures.by_line.continue_from(kept)
            journal.include("errors", run.stages.failures.by_line.changes)
        return run

    def _stop_because(self, reason: str) -> None:
        """Stop for the first *reason* there is; several items may meet the same one."""
        if self.status is Status.STARTED and not self.stopped_by:
            self.stopped_by = reason
            gevent.spawn(self._stop_if_started)

    def _stop_if_started(self) -> None:
        if self.status is Status.STARTED:
            self.stop()


def _trusted_hosts(first: list[Request]) -> frozenset[str] | None:
    """Return the hosts that the *first* requests trust, or name by their address."""
    named = urls.hosts_by_address(request.url for request in first if request.trusted is None)
    # Most requests share one set.
    said = {id(request.trusted): request.trusted or () for request in first}
    return named.union(*said.values()) or None


def _error_pool(args: DataArgs) -> ErrorPool:
    return ErrorPool(args.error_buffer_cap, args.error_max_buffer_number)


def _check(**arguments: tuple[object, type]) -> None:
    for name, (value, kind) in arguments.items():
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be a {kind.__name__}, not {value!r}")


def _requests(first: First) -> list[Request]:
    if isinstance(first, Request | str):
        first = [first]
    if not isinstance(first, Iterable):
        raise ValueError(f"a request, a URL or several are needed, not {first!r}")
    return [Request(each) if isinstance(each, str) else _checked(each) for each in first]


def _checked(request: object) -> Request:
    if not isinstance(request, Request):
        raise ValueError(f"a first request must be a Request or a URL, not {request!r}")
    return request
