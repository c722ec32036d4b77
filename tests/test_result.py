import gevent
import pytest

from crawler import Request, Spider, crawl, stream
from crawler.errors import PipelineError
from crawler.job import Job
from crawler.middleware.spider.contract import SpiderMiddleware
from crawler.testing import Reply, Site, generated_site

from .sample_spider import FREE, SITE, Titles


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
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


def test_the_first_errors_are_kept_and_all_are_counted(monkeypatch):
    """A site without end, with errors, must not fill the memory with them."""
    monkeypatch.setattr("crawler.result.MOST_ERRORS", 10)
    site = Site(generated_site(pages=50, links=5, size=300))

    class Failing(Titles):
        def parse(self, response):
            yield from response.links()
            raise ValueError(response.url)

    result = crawl(Failing(), fetch=site, **FREE)

    assert [error.kind for error in result.errors] == ["parse"] * 10
    assert result.summary.errors.reported == 50


def test_a_slow_reader_holds_the_crawl_and_loses_nothing():
    site = Site(generated_site(pages=600, links=3, size=200))

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
    for _ in range(100):
        gevent.sleep(0)
    assert len(site.requests) < 500

    rest = list(iter_)

    assert len({item["url"] for item in [first, *rest]}) == 600


def test_next_request_is_asked_when_there_is_nothing_left():
    class More(SpiderMiddleware):
        def __init__(self):
            self.urls = ["http://site.test/a", "http://site.test/b"]

        def next_request(self, spider):
            return self.urls.pop(0) if self.urls else None

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


@pytest.mark.parametrize(("wanted", "code"), [([404], 0), ([410], 1)])
def test_a_start_page_whose_request_asks_for_its_status_is_a_success(wanted, code):
    class Gone(Titles):
        def start(self):
            yield Request("http://site.test/", meta={"handle_httpstatus_list": wanted})

    assert crawl(Gone(), fetch=Site({"/": Reply(404)}), **FREE).exit_code == code


def test_a_spider_may_have_nothing_but_next_request():
    class Queue(Spider):
        urls = ["http://site.test/a", "http://site.test/b"]

        def next_request(self):
            return self.urls.pop(0) if self.urls else None

        def parse(self, response):
            yield {"title": response.title}

    result = crawl(Queue(), fetch=Site(SITE), **FREE)

    assert [item["title"] for item in result.items] == ["A", "B"]


class Lone(Titles):
    """Follows no links."""

    def parse(self, response):
        yield {"title": response.title}


class Marks(SpiderMiddleware):
    """Drops what has an "x", and marks and notes the rest."""

    def __init__(self):
        self.seen = []

    def process_request(self, request, response, spider):
        self.seen.append(request.url)
        return None if "x" in request.url else request

    def process_item(self, item, response, spider):
        return None if "x" in item else item | {"marked": True}


def test_what_is_added_to_a_crawl_passes_its_hooks():
    marks = Marks()
    with stream(Lone(), fetch=Site(SITE), middlewares=[marks], **FREE) as result:
        assert result.scheduler.add("http://site.test/a")
        assert not result.scheduler.add("http://site.test/x")
        result.scheduler.join(120)
    assert marks.seen.count("http://site.test/a") == 1
    assert "http://site.test/x" in marks.seen


def test_next_requests_pass_the_hooks_once():
    class Queue(Lone):
        urls = ["http://site.test/a"]

        def next_request(self):
            return self.urls.pop(0) if self.urls else None

    marks = Marks()
    crawl(Queue(), fetch=Site(SITE), middlewares=[marks], **FREE)

    assert marks.seen.count("http://site.test/a") == 1


def test_an_item_can_be_added_to_a_crawl(tmp_path):
    def strict(item):
        return item if "bad" not in item else item["price"]

    class Strict(Titles):
        pipelines = [strict]

    feed = tmp_path / "items.jsonl"
    with Job(tmp_path / "job") as job:
        job.open_feed(str(feed))
        result = stream(Strict(), fetch=Site(SITE), middlewares=[Marks()], job=job, **FREE)
        assert result.scheduler.add_item({"n": 1})
        assert not result.scheduler.add_item({"x": 1})
        with pytest.raises(PipelineError):
            result.scheduler.add_item({"bad": 1})
        with pytest.raises(ValueError, match="must be a mapping"):
            result.scheduler.add_item(5)
        found = list(result)

    assert {"n": 1, "marked": True} in found
    items = result.summary.items
    assert (items.found, items.processed, items.failed, items.dropped) == (6, 4, 1, 1)
    assert feed.read_text().count('"n"') == 1


def test_a_next_request_that_is_never_fetched_is_named_and_the_crawl_can_be_stopped(caplog):
    """It would return the same URL for ever, and the crawl never switch to another greenlet."""

    class Same(Titles):
        asked = 0

        def next_request(self):
            self.asked += 1
            if self.asked == 10:
                gevent.spawn(result.stop)
            return "http://site.test/" if self.asked < 10_000 else None

    spider = Same()
    result = stream(spider, fetch=Site(SITE), **FREE)

    result.wait()

    assert result.reason == "stopped"
    assert spider.asked < 10_000
    assert caplog.text.count("a URL that was met before needs dont_filter=True") == 1
