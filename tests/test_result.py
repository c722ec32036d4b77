import gevent
import pytest

from crawler import Spider, crawl, stream
from crawler.middleware.spider.contract import SpiderMiddleware
from crawler.testing import Site, generated_site

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
