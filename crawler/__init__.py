"""A gevent crawler framework: a scheduler, modules, and the elastic pools between them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .buffer import Buffer, Pool
    from .crawl import CrawlResult, crawl, stream
    from .data import Headers, Item, Request, Response
    from .errors import (
        AnalyzeError,
        CrawlerError,
        DownloadError,
        DropItem,
        FetchError,
        InvalidURL,
        JobError,
        ModuleError,
        NoModule,
        PipelineError,
        PoolClosed,
        Refused,
        StateError,
    )
    from .fetch import CurlFetch, SessionFetch
    from .frontier import Budget, Politeness, Retries
    from .job import Job
    from .module import (
        MID,
        Analyzer,
        Counts,
        Downloader,
        Module,
        Pipeline,
        Registrar,
        classic_score,
        load_score,
    )
    from .scheduler import DataArgs, ModuleArgs, Monitor, RequestArgs, Scheduler, Status, Summary
    from .spider import Page, Spider

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 - grouped by what they are for
    # data
    "Headers",
    "Item",
    "Request",
    "Response",
    # pools
    "Buffer",
    "Pool",
    # modules
    "MID",
    "Analyzer",
    "Counts",
    "Downloader",
    "Module",
    "Pipeline",
    "Registrar",
    "classic_score",
    "load_score",
    # fetching
    "CurlFetch",
    "SessionFetch",
    # manners
    "Budget",
    "Politeness",
    "Retries",
    # scheduling
    "DataArgs",
    "ModuleArgs",
    "Monitor",
    "RequestArgs",
    "Scheduler",
    "Status",
    "Summary",
    # spiders
    "CrawlResult",
    "Job",
    "Page",
    "Spider",
    "crawl",
    "stream",
    # errors
    "AnalyzeError",
    "CrawlerError",
    "DownloadError",
    "DropItem",
    "FetchError",
    "InvalidURL",
    "JobError",
    "ModuleError",
    "NoModule",
    "PipelineError",
    "PoolClosed",
    "Refused",
    "StateError",
]

#: Which parts of the package the names are in: those that need fewer others first.
_PARTS = (
    "errors",
    "data",
    "buffer",
    "module",
    "spider",
    "fetch",
    "frontier",
    "scheduler",
    "job",
    "crawl",
)


class _Package(ModuleType):
    """
    Imports its parts when one of their names is first asked for, and no more than it takes: a
    process that analyses for a crawl does without most of what drives one.

    Until then `import crawler` costs nothing, and the command line can patch the standard
    library before anything else is imported.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        for part in _PARTS:
            found = vars(import_module(f".{part}", __name__))
            vars(self).update({known: found[known] for known in __all__ if known in found})
            if name in found:
                break
        return vars(self)[name]

    def __setattr__(self, name: str, value: object) -> None:
        # The module crawler.crawl, once imported, would hide the function of that name.
        if name != "crawl":
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *__all__})


sys.modules[__name__].__class__ = _Package
