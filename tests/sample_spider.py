"""A small site, a spider that reads its titles, and settings that need no politeness."""

from crawler import DropItem, Spider
from crawler.middleware import SpiderMiddleware

FREE = {"delay": 0, "robots": False, "per_host": 100, "retries": 1, "politeness.latency_factor": 0}

SITE = {
    "/": '<title>Home</title><a href="/a">a</a> <a href="/b">b</a>',
    "/a": '<title>A</title><a href="/">home</a>',
    "/b": "<title>B</title>",
}


class Titles(Spider):
    start_urls = ["http://site.test/"]

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
        yield from response.follow_all(css="a")


class AllLinks(Spider):
    start_urls = ["http://site.test/"]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.links()


class ChoosyItems(SpiderMiddleware):
    """Drops the item of /b and fails on all others."""

    def process_item(self, item, response, spider):
        if item["url"].endswith("/b"):
            raise DropItem("not wanted")
        raise KeyError("price")
