"""Link extractors: requests for the links of pages and news feeds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from re import Pattern
from typing import Any

from ...data import Request, Response
from ...spider.links import is_html, is_news_feed, links
from .contract import SpiderMiddleware
from .per_spider import PerSpider, compiled


class RegexLinkExtractor(PerSpider[list[Pattern[str]]]):
    """
    Follows the links of HTML pages in whose absolute URL one of the patterns is found.

    The patterns are regular expressions, by default the spider's ``url_regexes_to_follow``; the
    "?" before a query is written ``\\?``.
    """

    def __init__(self, patterns: Collection[str] | None = None) -> None:
        super().__init__()
        self._patterns = patterns

    def make(self, spider: Any) -> list[Pattern[str]]:
        name = "url_regexes_to_follow"
        return compiled(name, self.configured(self._patterns, name, spider))

    def process_response(
        self, response: Response, request: Request, spider: Any
    ) -> Iterator[Request]:
        patterns = self.of(spider)
        for url in links(response) if is_html(response) else ():
            if any(pattern.search(url) for pattern in patterns):
                yield Request(url)


class NewsFeedLinkExtractor(SpiderMiddleware):
    """Follows the links of the entries of RSS and Atom."""

    def process_response(
        self, response: Response, request: Request, spider: Any
    ) -> Iterator[Request]:
        if is_news_feed(response):
            yield from map(Request, links(response, nofollow=False))
