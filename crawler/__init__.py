"""A gevent crawler framework: a scheduler, modules, and the self-scaling pools between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._distribution import __version__ as __version__
from ._lazy_import import lazy_names

if TYPE_CHECKING:
    from .buffer import Buffer, Pool
    from .compose import crawl, stream
    from .data import Item, Request, Response
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
    from .headers import Headers
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
    from .result import CrawlResult
    from .scheduler import DataArgs, ModuleArgs, Monitor, RequestArgs, Scheduler, Status, Summary
    from .spider import CrawlSpider, LinkExtractor, Page, Rule, Spider

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
    # politeness
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
    "CrawlSpider",
    "FormRequest",
    "Job",
    "JsonRequest",
    "LinkExtractor",
    "Page",
    "Rule",
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

#: The public names by the module that defines them. A name is imported at first use: `import
#: crawler` costs nothing, and the command line can patch the standard library first.
_PLACES = {
    "errors": [
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
    ],
    "data": ["Item", "Request", "Response"],
    "headers": ["Headers"],
    "buffer": ["Buffer", "Pool"],
    "module": [
        "Analyzer",
        "Counts",
        "Downloader",
        "MID",
        "Module",
        "Pipeline",
        "Registrar",
        "classic_score",
        "load_score",
    ],
    "spider": [
        "CrawlSpider",
        "FormRequest",
        "JsonRequest",
        "LinkExtractor",
        "Page",
        "Rule",
        "Spider",
    ],
    "fetch": ["CurlFetch", "SessionFetch"],
    "frontier": ["Budget", "Politeness", "Retries"],
    "scheduler": [
        "DataArgs",
        "ModuleArgs",
        "Monitor",
        "RequestArgs",
        "Scheduler",
        "Status",
        "Summary",
    ],
    "job": ["Job"],
    "result": ["CrawlResult"],
    "compose": ["crawl", "stream"],
}

_ONE_PAGE = "Page: one class for all types of responses"
#: Names of Scrapy that are not here, for spiders that are ported by `import crawler as scrapy`.
_INSTEAD = {
    "CSVFeedSpider": "a Spider with csv.DictReader(page.text.splitlines()) in parse()",
    "CloseSpider": "a limit in settings, such as max_pages",
    "DontCloseSpider": "next_request() in the spider, which returns one more request or None",
    "Field": "from crawler.items import Field, Item",
    "FilesPipeline": "from crawler.media import FilesPipeline",
    "HtmlResponse": _ONE_PAGE,
    "HttpError": "from crawler.middleware import HttpError",
    "IgnoreRequest": 'from crawler.errors import Refusal, and raise Refusal("reason")',
    "ImagesPipeline": "from crawler.media import ImagesPipeline",
    "ItemLoader": "from crawler.items import ItemLoader",
    "JsonResponse": _ONE_PAGE,
    "NotConfigured": "nothing: leave the component out of its list",
    "Selector": "from parsel import Selector",
    "SitemapSpider": "from crawler.spider import SitemapSpider",
    "TextResponse": _ONE_PAGE,
    "XMLFeedSpider": "a Spider with page.xpath('//item') in parse(), or NewsFeedSpider for RSS",
    "XmlResponse": _ONE_PAGE,
    "exceptions": "crawler.DropItem for DropItem, and crawler.errors.Refusal for IgnoreRequest",
    "signals": "open(), close(), next_request() or on_error() in the spider",
}

__getattr__ = lazy_names(
    __name__, {name: place for place, names in _PLACES.items() for name in names}, _INSTEAD
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
