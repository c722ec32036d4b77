"""Summary: the figures of a crawl at one moment."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ..buffer import PoolFigures
from ..frontier import FrontierView, UrlCounts
from ..module import Analyzer, Downloader, Module, ModuleSummary, Pipeline, Registrar
from .args import DataArgs, ModuleArgs, RequestArgs
from .meter import Latency
from .run import ITEM_COUNTS, Run

#: The arguments of Scheduler.init().
Args = tuple[RequestArgs, DataArgs, ModuleArgs]
#: The number of lines of code in a summary.
_MOST_ERROR_LINES = 10
#: Seconds between two live summaries.
_INTERVAL = 1.0


@dataclass(frozen=True)
class ItemCounts:
    """found = processed + failed + dropped + pending; pending items are in the pool or a pipeline."""

    found: int = 0
    processed: int = 0
    failed: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class ErrorCounts:
    """
    *dropped* errors were pushed out of a full pool before a consumer had read them.

    *kinds* has the number of those that were reported by kind, such as parse or http_404.
    """

    reported: int = 0
    dropped: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """
    The figures of a crawl, taken in one pass, so that they agree with each other.

    Two summaries are equal if nothing has happened between them: figures that change with
    time alone, such as *elapsed*, *rate* and *waiting_for*, are not compared.
    """

    status: str
    #: Why the crawl has ended: finished, stopped, memory_limit, output_closed, or the limit that has
    #: cut it off, such as page_limit. Empty while it runs and no limit was reached.
    reason: str
    paused: bool
    request_args: Mapping[str, Any]
    data_args: DataArgs
    module_args: Mapping[str, Any]
    downloaders: tuple[ModuleSummary, ...]
    analyzers: tuple[ModuleSummary, ...]
    pipelines: tuple[ModuleSummary, ...]
    request_pool: PoolFigures
    response_pool: PoolFigures
    item_pool: PoolFigures
    error_pool: PoolFigures
    urls: UrlCounts
    retried: int
    #: How many of the *retried* followed which kind of failure, such as timeout or http_503.
    retries: Mapping[str, int]
    #: By reason, the first few URLs that failed, were refused or turned away.
    samples: Mapping[str, list[str]]
    #: The number of pages that have moved permanently.
    moved: int
    items: ItemCounts
    errors: ErrorCounts
    #: The lines of callbacks and pipelines that raised the most errors.
    error_lines: tuple[str, ...]
    responses: int
    bytes: int
    #: What the pages take that are not settled: their bodies, and the analyses that run.
    in_flight_bytes: int
    status_codes: Mapping[int, int]
    #: The number of start pages whose last answer was a failure: a status of 400 or more.
    unsuccessful_starts: int
    latency: Latency
    #: What the next request waits for, and the seconds until it is due, if they are known.
    waiting_for: str = field(compare=False)
    next_wake: float | None = field(compare=False)
    #: The number of requests in the frontier, and why no host is due now.
    queued: int = field(compare=False)
    resting: str = field(compare=False)
    #: How long the commits of a job took, and how many ended pages wait for one; {} without a job.
    commits: Mapping[str, Any] = field(compare=False)
    #: Seconds of CPU time that the process has used since the start.
    cpu: float = field(compare=False)
    rate: float = field(compare=False)
    elapsed: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return json.dumps(self.to_dict(), indent=4)


def summarize(
    run: Run, registrar: Registrar, args: Args, *, status: str, reason: str, paused: bool
) -> Summary:
    """Return the figures of *run*, of the registered modules and of the arguments of init()."""
    view, meter = run.frontier.view, run.meter
    requests, data, modules = args
    return Summary(
        status=status,
        reason=reason,
        paused=paused,
        request_args=_request_figures(requests),
        data_args=data,
        module_args=_module_figures(modules),
        downloaders=_modules(registrar, Downloader),
        analyzers=_modules(registrar, Analyzer),
        pipelines=_modules(registrar, Pipeline),
        request_pool=run.requests.figures(),
        response_pool=run.responses.figures(),
        item_pool=run.items.figures(),
        error_pool=run.errors.figures(),
        urls=view.counts(),
        retried=sum(view.retries.values()),
        retries=dict(view.retries),
        samples=view.samples(),
        moved=view.moved,
        **_waiting(view),
        commits=requests.journal.commit_figures() if requests.journal is not None else {},
        cpu=meter.cpu,
        items=ItemCounts(*(getattr(run.stages, name) for name in ITEM_COUNTS)),
        errors=ErrorCounts(run.errors.reported, run.errors.dropped, dict(run.errors.by_kind)),
        error_lines=tuple(map(str, run.stages.failures.by_line.most(_MOST_ERROR_LINES))),
        responses=meter.responses,
        bytes=meter.bytes,
        in_flight_bytes=run.memory.in_flight,
        status_codes=dict(sorted(meter.statuses.items())),
        unsuccessful_starts=meter.unsuccessful_starts,
        latency=meter.latency(),
        rate=meter.rate,
        elapsed=meter.elapsed,
    )


def _waiting(view: FrontierView) -> dict[str, Any]:
    return {
        "waiting_for": view.waiting_for(),
        "next_wake": view.next_wake(),
        "queued": len(view),
        "resting": view.resting(),
    }


def _modules(registrar: Registrar, kind: type[Module]) -> tuple[ModuleSummary, ...]:
    return tuple(module.summary() for module in registrar.all(kind))


def _request_figures(args: RequestArgs) -> dict[str, Any]:
    rules = _values(args, "accepted_domains", "max_depth", "include", "exclude")
    return rules | _values(args.politeness, "per_host", "delay", "robots")


def _module_figures(args: ModuleArgs) -> dict[str, Any]:
    sizes = {
        "downloader_list_size": len(args.downloaders),
        "analyzer_list_size": len(args.analyzers),
        "pipeline_list_size": len(args.pipelines),
    }
    workers = ("download_workers", "analyze_workers", "pipeline_workers", "time_limit")
    return sizes | _values(args, *workers)


def _values(args: object, *names: str) -> dict[str, Any]:
    return {name: getattr(args, name) for name in names}


class LiveSummary:
    """Returns the summary of *take* as plain values, at most once a second; None in between."""

    def __init__(self, take: Callable[[], Summary], clock: Callable[[], float] = monotonic) -> None:
        self._take = take
        self._clock = clock
        self._due = 0.0

    def __call__(self) -> dict[str, Any] | None:
        now = self._clock()
        if now < self._due:
            return None
        self._due = now + _INTERVAL
        return self._take().to_dict()

    def renew(self) -> None:
        """Make the next call return a summary, however recent the last one is."""
        self._due = 0.0
