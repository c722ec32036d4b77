"""Spiders that read the lists of pages that a site publishes: sitemaps and news feeds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..data import Request
from ..http.robots_txt import Robots
from .news_feed import NewsEntry, parse_news_feed
from .page import Page
from .sitemap import SitemapEntry, parse_sitemap
from .spider import Spider


class SitemapSpider(Spider):
    """
    Crawls the pages that the sitemaps of a site list; sitemaps may be gzipped, or be an index.

    Each of *sitemap_urls* is a sitemap, or a robots.txt that names sitemaps. *sitemap_rules* are
    pairs of a regular expression and a callback: the first expression found in a URL counts.
    """

    sitemap_urls: Sequence[str] = ()
    sitemap_rules: Sequence[tuple[str, str]] = (("", "parse"),)
    #: Of an index, only sitemaps are read in whose URL one of these expressions is found.
    sitemap_follow: Sequence[str] = ("",)

    def start(self) -> Iterator[Request]:
        for url in self.sitemap_urls:
            yield Request(url, callback="parse_sitemap", dont_filter=True)

    def parse_sitemap(self, response: Page) -> Iterator[Request]:
        if response.url.endswith("/robots.txt"):
            for found in Robots.parse(response.body).sitemaps:
                yield self._sitemap(response.urljoin(found))
            return
        sitemap = parse_sitemap(response.body)
        for entry in self.sitemap_filter(map(_given, sitemap.entries)):
            url = entry["loc"]
            if sitemap.kind != "index":
                yield from self._page(url)
            elif any(re.search(wanted, url) for wanted in self.sitemap_follow):
                yield self._sitemap(url)

    def sitemap_filter(self, entries: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        """Return the wanted ones of *entries*, which have "loc" and perhaps "lastmod" and others."""
        return entries

    def _sitemap(self, url: str) -> Request:
        return Request(url, callback="parse_sitemap")

    def _page(self, url: str) -> Iterator[Request]:
        for pattern, callback in self.sitemap_rules:
            if re.search(pattern, url):
                yield Request(url, callback=callback)
                return


def _given(entry: SitemapEntry) -> dict[str, Any]:
    return {name: value for name, value in entry._asdict().items() if value is not None}


class NewsFeedSpider(Spider):
    """Reads RSS and Atom: every entry goes to parse_entry(), which may follow its link."""

    def parse(self, response: Page) -> Iterator[Any]:
        news = parse_news_feed(
            response.body, response.url, content_type=response.headers.get("content-type", "")
        )
        for entry in news.entries:
            yield from self.parse_entry(response, entry) or ()

    def parse_entry(self, _response: Page, entry: NewsEntry) -> Any:
        """Yield items and requests for an entry; by default, the entry itself as an item."""
        yield entry._asdict()
