import pytest

from crawler import Request, Response, Spider, crawl
from crawler.middleware import Referer
from crawler.testing import Reply

PAGE = "https://site.test/a?b=1"
SAME = "https://site.test/x"
CROSS = "https://other.test/"
ORIGIN = "https://site.test/"


def sent(middleware, url=SAME, found_on=PAGE, **fields):
    request = Request(url, found_on=found_on, **fields)
    return middleware.before_download(request).headers.get("referer")


def after(middleware, url=PAGE, **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    middleware.after_download(Response(url, 200, fields))
    return middleware


def test_a_request_tells_the_page_it_was_found_on():
    assert sent(Referer()) == PAGE
    assert sent(Referer(), CROSS) == ORIGIN
    assert sent(Referer(), "http://other.test/") is None
    assert sent(Referer("origin")) == ORIGIN


def test_a_referer_it_has_already_is_kept_and_a_first_request_has_none():
    assert sent(Referer(), headers={"rEFERER": "http://me.test/"}) == "http://me.test/"
    assert sent(Referer(), found_on=None) is None


@pytest.mark.parametrize("page", ["about:blank", "http://[", "\r\nX: y"])
def test_what_is_not_a_page_of_the_web_is_not_told(page):
    assert sent(Referer(), found_on=page) is None


@pytest.mark.parametrize(
    ("usual", "named", "same", "cross"),
    [
        ("strict-origin-when-cross-origin", "same-origin", PAGE, None),
        ("strict-origin-when-cross-origin", "no-referrer", None, None),
        ("strict-origin-when-cross-origin", "unsafe-url", PAGE, ORIGIN),
        ("strict-origin-when-cross-origin", "os.system", PAGE, ORIGIN),
        ("unsafe-url", "origin", ORIGIN, ORIGIN),
        ("origin", "unsafe-url", ORIGIN, ORIGIN),
    ],
)
def test_a_page_may_ask_for_less_but_not_for_more(usual, named, same, cross):
    middleware = after(Referer(usual), referrer_policy=named)

    assert (sent(middleware), sent(middleware, CROSS)) == (same, cross)


def test_the_policy_of_a_page_holds_for_its_origin_and_for_no_other():
    middleware = after(Referer(), referrer_policy="no-referrer")

    assert sent(after(middleware, "https://site.test/later")) is None
    assert sent(middleware, CROSS, found_on=f"{CROSS}page") == f"{CROSS}page"


def test_a_policy_nobody_knows_is_an_error():
    with pytest.raises(ValueError, match="policy must be one of no-referrer"):
        Referer("sometimes")


class Visitor(Spider):
    def parse(self, page):
        yield from page.links()
        if page.url.endswith("/?q"):
            self.fetch(page.urljoin("/fetched"))


PAGES = {
    "/": '<a href="/link#part">a</a><a href="/moved">m</a>',
    "/?q": '<a href="/link#part">a</a><a href="/moved">m</a>',
    "/link": "",
    "/fetched": "",
    "/moved": Reply(302, {"location": "/there"}),
    "/there": "",
    "/robots.txt": "User-agent: *\nAllow: /",
}


def crawled(serve, **settings):
    """The Referer that each path was asked for with, by a login that no Referer may have."""
    site = serve(PAGES)
    start = site.url("/?q#top").replace("://", "://user:word@")
    crawl(Visitor(start_urls=[start]), depth=3, delay=0, **settings)
    return site, {hit.path: hit.headers.get("referer") for hit in site.requests}


def test_a_crawl_tells_the_page_to_links_redirect_hops_and_own_fetches(serve):
    site, referers = crawled(serve)
    page = site.url("/?q")

    assert referers == {
        "/robots.txt": None,
        "/?q": None,
        "/link": page,
        "/moved": page,
        "/there": page,
        "/fetched": page,
    }


def test_the_setting_names_another_policy_or_none(serve):
    site, referers = crawled(serve, referer="origin")
    _, none = crawled(serve, referer="no")

    assert referers["/there"] == site.url("/")
    assert set(none.values()) == {None}
