"""PageSpider: the spider of `crawler crawl`, for users who write none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from .page import Page
from .spider import Spider


class PageSpider(Spider):
    """Follows every link and yields an item for every page, whatever its status."""

    name = "pages"
    max_depth = 1
    handle_httpstatus_list = range(100, 600)

    def parse(self, response: Page) -> Iterator[Any]:
        yield {
            "url": response.url,
            "status": response.status,
            "depth": response.depth,
            "found_on": response.request.found_on,
            "content_type": response.headers.get("content-type"),
            "bytes": response.size,
            "title": response.title,
            "fetched_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "redirects": list(response.request.redirects),
        }
        yield from response.links()
