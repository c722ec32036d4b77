"""Crawlee's crawl: its parsel crawler, which is the fastest it has, in memory."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from .shape import Shape


def crawl(site: dict[str, Any], concurrency: int) -> dict[str, Any]:
    return {"pages": asyncio.run(_crawl(Shape(**site).url(0), concurrency))}


async def _crawl(url: str, concurrency: int) -> int:
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency,
            desired_concurrency=concurrency,
            max_concurrency=concurrency,
        ),
        storage_client=MemoryStorageClient(),
        configure_logging=False,
    )
    logging.getLogger("crawlee").setLevel(logging.WARNING)
    pages = 0

    async def follow(context: ParselCrawlingContext) -> None:
        nonlocal pages
        pages += 1
        await context.enqueue_links(strategy="same-hostname")

    crawler.router.default_handler(follow)
    await crawler.run([url])
    return pages
