"""Our crawl as a user gets it: every default, but for manners that one's own site can do without."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# What a crawl imports only when it needs it: to be paid for before the clock runs.
import selectolax.lexbor  # noqa: F401

from ...compose import stream
from ...feed import JsonLines
from ...frontier import Politeness
from ...spider import Page, Pages, Spider
from ..sites.shape import Shape


class Follow(Spider):
    """Follows every link and counts the pages."""

    pages = 0

    def parse(self, response: Page) -> Iterator[Any]:
        self.pages += 1
        yield from response.links()


class Record(Pages):
    """Records every page, as ``crawler crawl`` does."""

    pages = 0

    def parse(self, response: Page) -> Iterator[Any]:
        self.pages += 1
        yield from super().parse(response)


def crawl(
    site: dict[str, Any], concurrency: int, *, records: bool = False, durable: bool = False
) -> dict[str, Any]:
    """Crawl *site*: with *records* into a file, if *durable* in the directory of a job."""
    kind: type[Follow | Record] = Record if records else Follow
    spider = kind(start_urls=[Shape(**site).url(0)], max_depth=None)
    options = _settings(site, concurrency)
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


def _settings(site: dict[str, Any], concurrency: int) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "concurrency": concurrency,
        "delay": 0,
        "politeness.latency_factor": 0,
        "per_host": per_host(site["hosts"], concurrency),
    }
    if site["hosts"] > 1:
        settings["allow_private"] = True
    return settings


def per_host(hosts: int, concurrency: int) -> int:
    """Return how many requests at a time a host gets: of several, as many as by default."""
    return concurrency if hosts == 1 else Politeness().per_host
