"""RobotsTxt: obeys robots.txt when requests are found, instead of when they are fetched."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gevent.event import AsyncResult

from ... import url as urls
from ...data import Request, Response
from ...errors import CrawlerError, InvalidURL, StateError
from ...http.redirect import is_redirect, next_hop
from ...http.robots_txt import Robots
from .per_spider import PerSpider

log = logging.getLogger(__name__)

Fetch = Callable[[Request], Response]

#: How many redirects of a robots.txt are followed.
_MAX_HOPS = 5
#: The bytes of all files that are kept; of more, the oldest are fetched again when they are needed.
_MOST_BYTES = 32 * 2**20
#: The bytes that an origin takes even if it has no such file.
_LEAST_BYTES = 256


class _Origins:
    """The robots.txt of each origin: requests that come while it is fetched wait for it."""

    def __init__(
        self, agent: str, fetch: Fetch, waiting: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        self.agent = agent
        self._fetch = fetch
        self._waiting = waiting
        self._fetched: dict[str, AsyncResult[Robots | None]] = {}
        self._sizes: dict[str, int] = {}
        self._size = 0

    def robots(self, origin: str) -> Robots:
        while (result := self._fetched.get(origin)) is not None:
            with self._waiting():
                robots = result.get()
            # None: the greenlet that fetched it has ended without a result.
            if robots is not None:
                return robots
        return self._share(origin)

    def _share(self, origin: str) -> Robots:
        """Read the file for all who wait for it."""
        result = self._fetched[origin] = AsyncResult()
        robots: Robots | None = None
        try:
            robots, size = self._read(origin)
            self._keep(origin, max(size, _LEAST_BYTES))
            return robots
        finally:
            if robots is None:
                del self._fetched[origin]
            result.set(robots)

    def _keep(self, origin: str, size: int) -> None:
        """Count the *size* of what is known of *origin*, and forget others if that is too much."""
        self._sizes[origin] = size
        self._size += size
        while self._size > _MOST_BYTES and len(self._sizes) > 1:
            oldest = next(iter(self._sizes))
            self._size -= self._sizes.pop(oldest)
            del self._fetched[oldest]

    def _read(self, origin: str) -> tuple[Robots, int]:
        """
        Fetch the file; a missing one allows everything, one that cannot be fetched nothing.

        Return its rules and its size.
        """
        request = Request(f"{origin}/robots.txt", dont_filter=True)
        try:
            response = self._follow(request)
        except StateError:
            raise
        except (CrawlerError, OSError) as error:
            log.info("%s is disallowed: its robots.txt cannot be fetched: %s", origin, error)
            return Robots.DISALLOW_ALL, 0
        if 200 <= response.status < 300:
            return Robots.parse(response.body), len(response.body)
        unavailable = response.status >= 500 or response.status == 429
        return (Robots.DISALLOW_ALL if unavailable else Robots.ALLOW_ALL), 0

    def _follow(self, request: Request) -> Response:
        response = self._fetch(request)
        while is_redirect(response) and len(request.redirects) < _MAX_HOPS:
            try:
                request = next_hop(request, response)
            except InvalidURL:
                break
            response = self._fetch(request)
        return response


class RobotsTxt(PerSpider[_Origins]):
    """
    Drops the requests that the robots.txt of their origin forbids (RFC 9309).

    A crawl does that by itself, for redirects too, and obeys Crawl-delay; this middleware is for
    crawls where that is switched off. The first request for an origin waits while its robots.txt
    is fetched. Other requests for that origin wait for the same fetch, each at its place in the
    chain: none of them passes the chain again. 4xx allows everything; 5xx, 429 and a failed
    fetch allow nothing.

    *agent* is the user agent to find rules for, by default the spider's ``user_agent``. *fetch*
    takes a Request; by default it is the spider's fetch(), which works only during a crawl.
    """

    def __init__(self, agent: str | None = None, fetch: Fetch | None = None) -> None:
        super().__init__()
        self._agent = agent
        self._fetch = fetch

    def make(self, spider: Any) -> _Origins:
        agent = self._agent or getattr(spider, "user_agent", None) or "crawler"
        # A waiting worker must be replaced: if all workers wait, none is left to fetch the file.
        waiting = getattr(spider, "waiting", nullcontext)
        return _Origins(agent, self._fetch or spider.fetch, waiting)

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        origins = self.of(spider)
        if _is_exempt(request.url):
            return request
        if origins.robots(urls.origin(request.url)).allowed(origins.agent, request.url):
            return request
        log.debug("robots.txt forbids %s", request)
        return None


def _is_exempt(url: str) -> bool:
    """Return whether *url* is robots.txt itself, or one that the frontier refuses anyway."""
    try:
        return urls.scheme(url) not in ("http", "https") or urls.target(url) == "/robots.txt"
    except InvalidURL:
        return True
