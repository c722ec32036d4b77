"""Limits on the requests found: the length of their URLs, and their depth."""

from __future__ import annotations

import logging
from typing import Any

from ...data import Request, Response
from .contract import SpiderMiddleware

log = logging.getLogger(__name__)


class UrlLength(SpiderMiddleware):
    """Drops requests whose URL has more than *limit* characters; 0 means no limit."""

    def __init__(self, limit: int = 2083) -> None:
        self._limit = _count("limit", limit)

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        if not self._limit or len(request.url) <= self._limit:
            return request
        log.debug("longer than %d: %.200s", self._limit, request.url)
        return None


class Depth(SpiderMiddleware):
    """
    Counts the steps from a first request, and drops requests more than *max_depth* steps away.

    0 means no limit here. The crawl counts in the same way and has its own limit.
    """

    def __init__(self, max_depth: int = 0) -> None:
        self._max = _count("max_depth", max_depth)

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        depth = request.depth if response is None else response.request.next_depth
        if self._max and depth > self._max:
            log.debug("deeper than %d: %s", self._max, request)
            return None
        return request if request.depth == depth else request.replace(depth=depth)


def _count(name: str, value: int) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} must be a whole number, 0 or more, not {value!r}")
    return value
