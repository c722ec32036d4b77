"""A page that sends browsers to another page is a redirect to it, if a spider asks for that."""

import pytest

from crawler import Request, Spider, crawl
from crawler.middleware import MetaRefresh, Middlewares
from crawler.testing import Reply, Site

HOME = "http://site.test/"


def answer(body, content_type="text/html", **request):
    """Return the status and the Location of the answer to a request for a page with *body*."""
    page = Reply(200, {"Content-Type": content_type}, body)
    response = Middlewares(Site({"/": page}), [MetaRefresh()])(Request(HOME, **request))
    return response.status, response.headers.get("Location")


def refresh(content):
    return f'<html><head><meta http-equiv="refresh" content="{content}"></head></html>'


@pytest.mark.parametrize(
    ("body", "target"),
    [
        (refresh("0; url=/new"), "http://site.test/new"),
        (refresh("5;URL='new?a=1'"), "http://site.test/new?a=1"),
        ("<base href=/deep/>" + refresh("0; url=new"), "http://site.test/deep/new"),
    ],
)
def test_a_refresh_is_a_redirect(body, target):
    assert answer(body) == (302, target)


@pytest.mark.parametrize(
    "body",
    [
        "<p>refresh</p>",
        refresh("30"),
        refresh("0; url=/#top"),
        refresh("101; url=/new"),
        refresh("0; url=http://[new"),
        refresh("0; url=http://site.test:99999/"),
        f"<noscript>{refresh('0; url=/new')}</noscript>",
    ],
)
def test_other_pages_pass(body):
    assert answer(body) == (200, None)


def test_other_types_pass_and_requests_that_follow_no_redirects():
    assert answer(refresh("0; url=/new"), "text/plain") == (200, None)
    assert answer(refresh("0; url=/new"), meta={"max_redirects": 0}) == (200, None)


def test_a_spider_gets_the_page_that_is_named():
    class Titles(Spider):
        start_urls = [HOME]
        download_middlewares = [MetaRefresh]

        def parse(self, page):
            yield {"title": page.title, "redirects": page.meta["redirect_urls"]}

    site = Site({"/": refresh("0; url=/new"), "/new": "<title>New</title>"})

    assert crawl(Titles(), fetch=site, delay=0).items == [{"title": "New", "redirects": [HOME]}]
