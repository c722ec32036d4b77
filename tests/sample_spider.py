"""A small site, a spider that reads its titles, and settings that need no politeness."""

from crawler import Spider

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
