"""One hook of a spider sees the errors of every stage, and may add requests for them."""

import logging

import pytest

from crawler import Spider, crawl
from crawler.errors import FetchError
from crawler.testing import Reply, Site

HOME = "http://site.test/"
PAGES = {
    "/": '<a href="/gone"><a href="/parse"><a href="/item"><a href="/dead"><a href="/good">',
    "/gone": Reply(404),
    "/parse": "",
    "/item": "",
    "/good": "",
    "/instead": "",
    "/instead?item": "",
}


class Site404(Site):
    def __call__(self, request):
        if request.url.endswith("/dead"):
            raise FetchError("connect", "nobody listens")
        return super().__call__(request)


def refuse(item):
    if item["path"] == "item":
        raise ValueError("no price")
    return item


class Watched(Spider):
    start_urls = [HOME]
    settings = {"delay": 0, "retries": 1}
    pipelines = [refuse]

    def open(self):
        self.seen = []

    def parse(self, page):
        path = page.url.removeprefix(HOME)
        yield {"path": path}
        yield from page.links()
        if path == "parse":
            raise KeyError("title")

    def on_error(self, error):
        status = error.response and error.response.status
        self.seen.append((error.request.url.removeprefix(HOME), error.kind, status))
        assert error.reason


def crawled(spider, **options):
    return crawl(spider, fetch=Site404(PAGES), **options)


def test_the_hook_sees_the_errors_of_download_callback_and_pipeline():
    spider = Watched()

    result = crawled(spider)

    assert sorted(spider.seen) == [
        ("dead", "connect", None),
        ("gone", "http_404", 404),
        ("item", "process", None),
        ("parse", "parse", None),
    ]
    assert len(result.errors) == 4


def test_requests_of_the_hook_are_crawled_before_the_crawl_ends(tmp_path):
    class Mending(Watched):
        def on_error(self, error):
            super().on_error(error)
            if error.kind == "http_404":
                yield "/instead"
            if error.kind == "process":
                yield error.request.replace(url=HOME + "instead?item")

    result = crawled(Mending(), job=tmp_path)

    assert {"path": "instead"} in result.items
    assert {"path": "instead?item"} in result.items
    assert result.summary.urls.pending == 0
    assert result.summary.urls.admitted == 8


@pytest.mark.parametrize("found", [{"path": "x"}, 5])
def test_what_is_not_a_request_is_logged_and_the_crawl_goes_on(found, caplog):
    class Wrong(Watched):
        def on_error(self, error):
            yield found

    with caplog.at_level(logging.ERROR):
        result = crawled(Wrong())

    assert "on_error() may yield requests and URLs" in caplog.text
    assert result.reason == "finished"


def test_every_error_of_an_errback_has_the_same_four_attributes():
    class Shapes(Watched):
        def errback(self, error):
            response = error.response
            yield {"path": f"{error.kind} {error.request.url} {response and response.status}"}
            assert error.reason

    found = [item["path"] for item in crawled(Shapes()).items]

    assert f"http_404 {HOME}gone 404" in found
    assert f"connect {HOME}dead None" in found
