"""
A crawl with Crawlee: its parsel crawler, which is its fastest, in memory.

As documented, it enqueues all the links of a page. Tuned, it enqueues only links that are not in a set
of seen URLs, and has no session pool.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import urljoin

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from ..sites.shape import OWN

_TUNED = {"use_session_pool": False, "retry_on_blocked": False}


def crawl(url: str, concurrency: int, *, tuned: bool = False) -> dict[str, Any]:
    follow = FollowNew() if tuned else Follow()
    asyncio.run(_crawl(follow, url, concurrency, _TUNED if tuned else {}))
    return {"pages": follow.pages}


class Follow:
    """Follows every link and counts the pages."""

    pages = 0

    async def __call__(self, context: ParselCrawlingContext) -> None:
        self.pages += 1
        await self.enqueue(context)

    async def enqueue(self, context: ParselCrawlingContext) -> None:
        await context.enqueue_links(strategy="same-hostname")


class FollowNew(Follow):
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
