"""A gevent crawler framework: a scheduler, modules, and the elastic pools between them."""

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
    ModuleError,
    NoModule,
    PipelineError,
    PoolClosed,
    Refused,
    StateError,
)
from .fetch import CurlFetch, SessionFetch
from .frontier import Budget, Politeness, Retries
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
    "ModuleError",
    "NoModule",
    "PipelineError",
    "PoolClosed",
    "Refused",
    "StateError",
]
