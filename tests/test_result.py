import gevent
import pytest

from crawler import Spider, crawl, stream
from crawler.middleware.spider.contract import SpiderMiddleware
from crawler.testing import Reply, Site, generated_site

from .sample_spider import FREE, SITE, Titles


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(30):
        yield


def test_items_come_as_they_are_found():
    site = Site(generated_site(pages=50, links=5, size=300))
    got = []

    with stream(Titles(), fetch=site, **FREE) as items:
        for item in items:
            got.append(item)
            if len(got) == 3:
                assert items.summary.status == "started"
                break

    assert items.reason == "stopped"
    assert items.exit_code == 3
    assert items.scheduler.status.value == "stopped"


def test_a_slow_reader_holds_the_crawl_and_loses_nothing():
    site = Site(generated_site(pages=3000, links=3, size=200))

    class Many(Spider):
        start_urls = ["http://site.test/"]

        def parse(self, response):
            yield {"url": response.url}
            yield from response.links()

    result = stream(
        Many(),
        fetch=site,
        **FREE,
        **{"pools.item_buffer_cap": 1, "pools.item_max_buffer_number": 1},
    )
    first = next(iter_ := iter(result))
    for _ in range(300):
        gevent.sleep(0)
    assert len(site.requests) < 2900

    rest = list(iter_)

    assert len({item["url"] for item in [first, *rest]}) == 3000


def test_next_request_is_asked_when_there_is_nothing_left():
    class More(SpiderMiddleware):
        def __init__(self):
            self.urls = ["http://site.test/a", "http://site.test/b"]

        def next_request(self, spider):
            return self.urls.pop(0) if self.urls else None

    class Lone(Titles):
        start_urls = ["http://site.test/"]

        def parse(self, response):
            yield {"title": response.title}

    result = crawl(Lone(), fetch=Site(SITE), middlewares=[More], **FREE)

    assert [item["title"] for item in result.items] == ["Home", "A", "B"]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({}, "finished"),
        ({"max_pages": 5}, "page_limit"),
        ({"max_bytes": 1000}, "byte_limit"),
        ({"max_errors": 1}, "error_limit"),
        ({"max_pages": 51}, "finished"),
    ],
    ids=str,
)
def test_a_limit_that_cut_the_crawl_off_is_its_reason(limits, reason):
    pages = generated_site(pages=50, links=5, size=300)
    site = Site({**pages, "/": f'<a href="/gone">{pages["/"]}'})

    result = crawl(Titles(), fetch=site, **FREE, **limits)

    assert result.reason == result.summary.reason == reason
    assert result.summary.to_dict()["reason"] == reason


def test_a_running_crawl_has_no_reason_to_have_ended():
    site = Site(generated_site(pages=50, links=5, size=300))

    with stream(Titles(), fetch=site, **FREE) as items:
        for _ in items:
            assert items.summary.reason == ""
            break

    assert items.reason == items.summary.reason == "stopped"


@pytest.mark.parametrize(("status", "code"), [(200, 0), (404, 1), (500, 1)])
def test_a_start_page_that_is_no_success_is_exit_code_1(status, code):
    site = Site({"/": Reply(status, body='<a href="/a">'), "/a": Reply(404)})

    class All(Spider):
        start_urls = ["http://site.test/"]
        handle_httpstatus_list = range(600)

        def parse(self, page):
            yield from page.links()

    result = crawl(All(), fetch=site, **FREE)

    assert (result.summary.urls.done, dict(result.summary.urls.failed)) == (2, {})
    assert result.summary.unsuccessful_starts == code
    assert result.exit_code == code
