"""robots.txt, obeyed where requests are found instead of where they are fetched."""

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

#: How many redirects a robots.txt may take.
_MAX_HOPS = 5


class _Answers:
    """What each origin said; whoever comes while it is being asked waits for the same answer."""

    def __init__(
        self, agent: str, fetch: Fetch, waiting: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        self.agent = agent
        self._fetch = fetch
        self._waiting = waiting
        self._asked: dict[str, AsyncResult[Robots | None]] = {}

    def of(self, origin: str) -> Robots:
        while (answer := self._asked.get(origin)) is not None:
            with self._waiting():
                robots = answer.get()
            # None: whoever asked was ended before there was an answer.
            if robots is not None:
                return robots
        return self._ask(origin)

    def _ask(self, origin: str) -> Robots:
        answer = self._asked[origin] = AsyncResult()
        robots: Robots | None = None
        try:
            robots = self._read(origin)
            return robots
        finally:
            if robots is None:
                del self._asked[origin]
            answer.set(robots)

    def _read(self, origin: str) -> Robots:
        """Read the file; one that is not there allows all, one that cannot be had nothing."""
        request = Request(f"{origin}/robots.txt", dont_filter=True)
        try:
            response = self._follow(request)
        except StateError:
            raise
        except (CrawlerError, OSError) as error:
            log.info("%s is disallowed: its robots.txt cannot be had: %s", origin, error)
            return Robots.DISALLOW_ALL
        if 200 <= response.status < 300:
            return Robots.parse(response.body)
        unavailable = response.status >= 500 or response.status == 429
        return Robots.DISALLOW_ALL if unavailable else Robots.ALLOW_ALL

    def _follow(self, request: Request) -> Response:
        response = self._fetch(request)
        while is_redirect(response) and len(request.redirects) < _MAX_HOPS:
            try:
                request = next_hop(request, response)
            except InvalidURL:
                break
            response = self._fetch(request)
        return response


class RobotsTxt(PerSpider[_Answers]):
    """
    Drops the requests that the robots.txt of their origin forbids (RFC 9309).

    A crawl does that by itself, for redirects too, and keeps to Crawl-delay; this is for
    those who have switched it off. The first request for an origin waits while its
    robots.txt is fetched, and all others for that origin with it, each where it is: none
    passes the chain again. 4xx allows everything, 5xx, 429 and failure nothing.

    *agent* is who the rules are for, the spider's ``user_agent`` unless given; *fetch*
    takes a Request and defaults to the spider's fetch(), which works while it is crawled.
    """

    def __init__(self, agent: str | None = None, fetch: Fetch | None = None) -> None:
        super().__init__()
        self._agent = agent
        self._fetch = fetch

    def make(self, spider: Any) -> _Answers:
        agent = self._agent or getattr(spider, "user_agent", None) or "crawler"
        # A worker that waits must be stood in for, or all wait for what none is left to fetch.
        waiting = getattr(spider, "waiting", nullcontext)
        return _Answers(agent, self._fetch or spider.fetch, waiting)

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        answers = self.of(spider)
        if _needs_no_leave(request.url):
            return request
        if answers.of(urls.origin(request.url)).allowed(answers.agent, request.url):
            return request
        log.debug("robots.txt forbids %s", request)
        return None


def _needs_no_leave(url: str) -> bool:
    """robots.txt itself may be read; what cannot be fetched is for the frontier to refuse."""
    try:
        return urls.scheme(url) not in ("http", "https") or urls.target(url) == "/robots.txt"
    except InvalidURL:
        return True
