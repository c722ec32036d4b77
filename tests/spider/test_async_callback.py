import asyncio
import logging

import pytest

from crawler import Spider, crawl
from crawler.spider import ignored_hooks
from crawler.spider.async_callback import driven, finished
from crawler.testing import Site

PAGES = {"/": '<a href="/next">', "/next": "end"}


class Asynchronous(Spider):
    start_urls = ["http://site.test/"]
    settings = {"delay": 0}
    max_depth = 1

    async def parse(self, page):
        yield {"url": page.url}
        for request in page.follow_all(css="a", callback=self.parse_next):
            yield request

    async def parse_next(self, page):
        return [{"url": page.url, "by": "coroutine"}]


def test_asynchronous_callbacks_yield_or_return_what_they_find():
    result = crawl(Asynchronous(), fetch=Site(PAGES))

    assert result.items == [
        {"url": "http://site.test/"},
        {"url": "http://site.test/next", "by": "coroutine"},
    ]


def test_a_callback_that_awaits_fails_and_says_what_to_do():
    class Waiting(Asynchronous):
        async def parse(self, page):
            await asyncio.sleep(0)
            yield {"url": page.url}

    result = crawl(Waiting(), fetch=Site(PAGES))

    assert result.items == []
    assert "self.fetch(url)" in str(result.errors[0])


def test_a_coroutine_that_waits_is_closed():
    ended = []

    async def wait():
        try:
            await asyncio.sleep(0)
        finally:
            ended.append(True)

    with pytest.raises(ValueError, match="cannot await anything"):
        finished(wait())
    assert ended


def test_an_error_of_an_asynchronous_generator_is_raised():
    async def failing():
        yield 1
        raise KeyError("lost")

    steps = driven(failing())

    assert next(steps) == 1
    with pytest.raises(KeyError, match="lost"):
        next(steps)


def test_methods_that_nothing_calls_are_named_at_the_start(caplog):
    class Ported(Asynchronous):
        def closed(self, reason): ...

        @classmethod
        def from_crawler(cls, crawler): ...

    with caplog.at_level(logging.WARNING):
        crawl(Ported(), fetch=Site(PAGES))

    assert "Ported.closed() is never called: write close(self)" in caplog.text
    assert "Ported.from_crawler() is never called" in caplog.text
    assert list(ignored_hooks(Asynchronous())) == []
