import asyncio
from dataclasses import dataclass

import attrs
import pytest
from pydantic import BaseModel

from crawler import Request, Spider, crawl
from crawler.spider.callback_results import driven, finished, results
from crawler.testing import Site

HOME = "http://site.test/"
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


@pytest.mark.parametrize("seconds", [0, 0.1], ids=["a turn", "a time"])
def test_a_callback_that_awaits_fails_and_says_what_to_do(seconds):
    class Waiting(Asynchronous):
        async def parse(self, page):
            await asyncio.sleep(seconds)
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


@dataclass
class Point:
    x: int


@dataclass
class Path:
    points: list

    def __iter__(self):
        return iter(self.points)


@attrs.define
class Place:
    name: str

    def __iter__(self):
        return iter(self.name)


class Product(BaseModel):
    price: int


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, []),
        ([], []),
        ({"n": 1}, [{"n": 1}]),
        (HOME, [HOME]),
        (Request(HOME), [Request(HOME)]),
        (Point(1), [Point(1)]),
        (Path([1, 2]), [Path([1, 2])]),
        (Place("here"), [Place("here")]),
        (Product(price=3), [Product(price=3)]),
        (({"n": 1}, HOME), [{"n": 1}, HOME]),
        ((n for n in "ab"), ["a", "b"]),
        ({"n": 1}.values(), [1]),
        (5, [5]),
    ],
)
def test_results_of_any_shape_are_read(value, read):
    assert list(results(value)) == read
