"""Link extractors: requests for what a page or a feed links to."""

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
    Follows the links of HTML pages in which one of the patterns is found.

    The patterns, the spider's ``url_regexes_to_follow`` unless given, are searched for
    anywhere in the absolute URL. They are regular expressions: the "?" before a query is
    written ``\\?``.
    """

    def __init__(self, patterns: Collection[str] | None = None) -> None:
        super().__init__()
        self._patterns = patterns

    def make(self, spider: Any) -> list[Pattern[str]]:
        name = "url_regexes_to_follow"
        return compiled(name, self.told(self._patterns, name, spider))

    def process_response(
        self, response: Response, request: Request, spider: Any
    ) -> Iterator[Request]:
        patterns = self.of(spider)
        for url in links(response) if is_html(response) else ():
            if any(pattern.search(url) for pattern in patterns):
                yield Request(url)


class NewsFeedLinkExtractor(SpiderMiddleware):
    """Follows the links of the items of RSS feeds and the entries of Atom feeds."""

    def process_response(
        self, response: Response, request: Request, spider: Any
    ) -> Iterator[Request]:
        if is_news_feed(response):
            yield from map(Request, links(response, nofollow=False))
