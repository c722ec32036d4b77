"""
Crawlee's crawl: its parsel crawler, which is the fastest it has, in memory.

As documented, it is told to enqueue all the links of a page. Tuned, it gets what a set of its own
has not met, and no pool of sessions.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import urljoin

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from ..sites.shape import OWN, Shape

_TUNED = {"use_session_pool": False, "retry_on_blocked": False}


def crawl(site: dict[str, Any], concurrency: int, *, tuned: bool = False) -> dict[str, Any]:
    follow = Lean() if tuned else Follow()
    asyncio.run(_crawl(follow, Shape(**site).url(0), concurrency, _TUNED if tuned else {}))
    return {"pages": follow.pages}


class Follow:
    """Follows every link and counts the pages."""

    pages = 0

    async def __call__(self, context: ParselCrawlingContext) -> None:
        self.pages += 1
        await self.enqueue(context)

    async def enqueue(self, context: ParselCrawlingContext) -> None:
        await context.enqueue_links(strategy="same-hostname")


class Lean(Follow):
    def __init__(self) -> None:
        self._seen: set[str] = set()

    async def enqueue(self, context: ParselCrawlingContext) -> None:
        hrefs = context.selector.xpath("//a/@href").getall()
        self._seen.add(context.request.url)
        found = {urljoin(context.request.url, href).partition("#")[0] for href in hrefs}
        new = [url for url in found - self._seen if url.startswith(OWN)]
        self._seen.update(new)
        if new:
            await context.add_requests(new)


async def _crawl(follow: Follow, url: str, concurrency: int, options: dict[str, Any]) -> None:
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency,
            desired_concurrency=concurrency,
            max_concurrency=concurrency,
        ),
        storage_client=MemoryStorageClient(),
        configure_logging=False,
        **options,
    )
    logging.getLogger("crawlee").setLevel(logging.WARNING)
    crawler.router.default_handler(follow)
    await crawler.run([url])
