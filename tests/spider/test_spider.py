"""What a spider may look like, and the errors for one that may not."""

import gevent
import pytest

from crawler import Spider, crawl
from crawler.middleware import SpiderMiddleware
from crawler.spider import first_requests, named_urls
from crawler.testing import Reply, Site

HOME = "http://site.test/"


class One(Spider):
    start_urls = HOME

    def parse(self, response):
        yield {"url": response.url}


class WithAnInitOfItsOwn(One):
    def __init__(self):
        self.name = "mine"


@pytest.mark.parametrize(
    "spider", [One(), One(start_urls="http://site.test/a"), WithAnInitOfItsOwn()]
)
def test_one_first_url_needs_no_list(spider):
    [url] = first_requests(spider)

    assert crawl(spider, fetch=Site({"/": "x", "/a": "x"})).items == [{"url": url}]


@pytest.mark.parametrize("settings", [{"DOWNLOAD_DELAY": 1}, {"delay": 1}])
def test_custom_settings_are_an_error_that_says_what_to_call_them(settings):
    with pytest.raises(ValueError, match=r"Ported has custom_settings.*: call them settings"):
        type("Ported", (Spider,), {"custom_settings": settings})


def test_custom_settings_that_are_empty_do_no_harm():
    assert type("Ported", (Spider,), {"custom_settings": None})().name == "ported"


class Junk(Spider):
    start_urls = [HOME]

    def parse(self, response):
        yield response.follow("/a", self.parse_a)
        yield response.follow("/b", self.parse_b)
        yield response.follow("/gone", errback=self.sorry)

    def parse_a(self, response):
        gevent.sleep(0.05)  # let other greenlets run
        yield 5

    def parse_b(self, response):
        yield b"x"

    def sorry(self, error):
        yield 7


class Passing(SpiderMiddleware):
    def process_item(self, item, response, spider):
        return item


def causes(error):
    """Return the causes of the error of a module."""
    cause = error.__cause__
    return list(cause.exceptions) if isinstance(cause, BaseExceptionGroup) else [cause]


@pytest.mark.parametrize("middlewares", [[], [Passing]], ids=["alone", "below a middleware"])
def test_what_yields_junk_is_named_by_spider_and_callback(middlewares):
    site = Site({"/": "x", "/a": "x", "/b": "x", "/gone": Reply(404)})

    result = crawl(Junk(), fetch=site, depth=1, middlewares=middlewares, delay=0)

    messages = {str(cause)[:30] for error in result.errors for cause in causes(error)}
    assert messages == {
        "Junk.parse_a yielded 5, not a ",
        "Junk.parse_b yielded b'x', not",
        "Junk.sorry yielded 7, not a re",
        "http_404: the server answered 404"[:30],
    }


@pytest.mark.parametrize("name", ["pipelines", "middlewares", "download_middlewares"])
def test_components_with_numbers_are_refused_with_the_list_to_write(name):
    with pytest.raises(ValueError, match=rf"Shop\.{name} is a list in its order: \['a', 'b'\]"):
        type("Shop", (Spider,), {name: {"a": 300, "b": 100}})


def test_what_scrapy_sets_is_missing_with_an_explanation():
    with pytest.raises(
        AttributeError, match="no attribute 'crawler'; arguments \\(-a\\) are attributes"
    ):
        Spider().crawler
    with pytest.raises(AttributeError, match=r"'Spider' object has no attribute 'other'$"):
        Spider().other
    assert not hasattr(Spider(), "state")


def test_start_yields_no_items():
    class Ported(Spider):
        async def start(self):
            yield {"title": "Home"}

    with pytest.raises(ValueError, match=r"start\(\) may yield requests and URLs, not \{'title'"):
        list(first_requests(Ported()))


def test_start_of_the_base_class_is_iterated_with_async_for_too():
    class Ported(Spider):
        start_urls = ["http://site.test/"]

        async def start(self):
            async for request in super().start():
                yield request.replace(priority=1)

    assert [(each.url, each.priority) for each in first_requests(Ported())] == [
        ("http://site.test/", 1)
    ]


def test_urls_of_an_iterator_are_left_to_start():
    class Lazy(Spider):
        start_urls = iter(["http://site.test/"])

    assert named_urls(Lazy()) == []
    assert list(first_requests(Lazy())) == ["http://site.test/"]


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        ("pipelines", "shop:Clean", r"Shop\.pipelines is a list: write \['shop:Clean'\]"),
        ("download_middlewares", None, r"download_middlewares is a list: write \[\]"),
        ("handle_httpstatus_list", 404, r"Shop\.handle_httpstatus_list is a list: write \[404\]"),
        ("settings", None, r"Shop\.settings is a dict of settings by name"),
    ],
)
def test_an_attribute_of_a_wrong_type_is_refused_where_the_class_is_defined(name, given, complaint):
    with pytest.raises(ValueError, match=complaint):
        type("Shop", (Spider,), {name: given})
