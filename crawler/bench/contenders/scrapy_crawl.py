"""
A crawl with Scrapy, tuned as an experienced user would, or with its defaults.

Tuned, links are found by XPath in lxml instead of its LinkExtractor. A set of seen URLs is asked before a
request is made, which saves most of the work. The log level is INFO instead of DEBUG. Cookies, retries,
redirects, robots.txt and the Telnet console are off; the other middlewares and extensions are the
default ones. With its defaults, a CrawlSpider follows what its LinkExtractor finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import scrapy
from lxml import html
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from ..sites.shape import OWN

_SETTINGS = {
    "LOG_LEVEL": "INFO",
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "DEPTH_STATS_VERBOSE": False,
}


class Follow(scrapy.Spider):  # type: ignore[misc]  # it may not be installed
    name = "follow"

    def __init__(self, first: str, counted: dict[str, int]) -> None:
        super().__init__()
        self.start_urls = [first]
        self.counted = counted
        self._seen = {first}

    def parse(self, response: Any) -> Iterator[Any]:
        self.counted["pages"] += 1
        for href in html.fromstring(response.body).xpath("//a/@href"):
            url = urljoin(response.url, href).partition("#")[0]
            if url not in self._seen and url.startswith(OWN):
                self._seen.add(url)
                yield scrapy.Request(url, dont_filter=True)


class FollowByRule(CrawlSpider):  # type: ignore[misc]  # it may not be installed
    """Follows the links to the host of the first page, and counts the pages."""

    name = "follow"
    rules = (Rule(LinkExtractor(), callback="count", follow=True),)

    def __init__(self, first: str, counted: dict[str, int]) -> None:
        super().__init__()
        self.start_urls = [first]
        self.allowed_domains = [urlsplit(first).hostname]
        self.counted = counted

    def parse_start_url(self, response: Any, **_: Any) -> list[Any]:
        return self.count(response)

    def count(self, _response: Any) -> list[Any]:
        self.counted["pages"] += 1
        return []


def crawl(url: str, concurrency: int, *, tuned: bool = False) -> dict[str, Any]:
    counted = {"pages": 0}
    settings = {"CONCURRENT_REQUESTS": concurrency, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency}
    process = CrawlerProcess((_SETTINGS if tuned else {}) | settings)
    process.crawl(Follow if tuned else FollowByRule, first=url, counted=counted)
    process.start()
    return counted
