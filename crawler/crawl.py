"""Composition root: what to crawl and where to write it → a wired scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from .data import Response
from .fetch import CurlFetch
from .module import Analyzer, Downloader, Pipeline
from .scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from .spider import links, title


def parse_page(response: Response) -> Iterator[Any]:
    """Yield one record for the page, then its links."""
    yield {
        "url": response.url,
        "status": response.status,
        "depth": response.depth,
        "found_on": response.request.found_on,
        "content_type": response.headers.get("content-type"),
        "bytes": len(response.body),
        "title": title(response),
        "fetched_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "redirects": list(response.request.redirects),
    }
    yield from links(response)


def page_crawl(
    write: Callable[[Any], Any], *, request_args: RequestArgs, concurrency: int
) -> Scheduler:
    """Return a scheduler, ready to start, that records every page with *write*."""
    scheduler = Scheduler()
    modules = ModuleArgs(
        downloaders=[Downloader(CurlFetch())],
        analyzers=[Analyzer(parse_page)],
        pipelines=[Pipeline(write)],
        download_workers=concurrency,
    )
    scheduler.init(request_args, DataArgs(), modules)
    return scheduler
