"""Our crawl with its defaults, except for the politeness that a local site does not need."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# A crawl imports this when it first needs it; here it must not count for the crawl.
import selectolax.lexbor  # noqa: F401

from ...compose import stream
from ...feed import JsonLines
from ...frontier import Politeness
from ...spider import Page, PageSpider, Spider
from ..sites.shape import Shape


class Follow(Spider):
    """Follows every link and counts the pages."""

    pages = 0

    def parse(self, response: Page) -> Iterator[Any]:
        self.pages += 1
        yield from response.links()


class Record(PageSpider):
    """Records every page, as ``crawler crawl`` does."""

    pages = 0

    def parse(self, response: Page) -> Iterator[Any]:
        self.pages += 1
        yield from super().parse(response)


def crawl(
    shape: dict[str, Any], concurrency: int, *, records: bool = False, durable: bool = False
) -> dict[str, Any]:
    """Crawl the site: with *records* written to a file, if *durable* in a job directory."""
    kind: type[Follow | Record] = Record if records else Follow
    spider = kind(start_urls=[Shape(**shape).url(0)], max_depth=None)
    options = _settings(shape["hosts"], concurrency)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="crawler-bench-")))
        if records:
            options["feeds"] = [stack.enter_context(JsonLines(folder / "pages.jsonl"))]
        if durable:
            options["job"] = folder / "job"
        result = stream(spider, **options)
        deque(result, maxlen=0)
        result.wait()
    return {"pages": spider.pages}


def _settings(hosts: int, concurrency: int) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "concurrency": concurrency,
        "delay": 0,
        "politeness.latency_factor": 0,
        "per_host": per_host(hosts, concurrency),
    }
    if hosts > 1:
        settings["allow_private"] = True
    return settings


def per_host(hosts: int, concurrency: int) -> int:
    """Return the requests in flight per host: all of them for one host, else the default."""
    return concurrency if hosts == 1 else Politeness().per_host
