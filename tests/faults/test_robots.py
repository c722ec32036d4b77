"""Hostile robots.txt: every page has an outcome that tells the truth, and no other host waits."""

import socket
import time

import gevent
import pytest

from crawler import Request, Spider, crawl
from crawler.http.robots_txt import MAX_BYTES
from crawler.testing import Reply, faults

from .conftest import FAST, balanced

GOOD = 100


def parse(spider, page):
    yield {"url": page.url}


@pytest.fixture
def good(serve):
    return serve({f"/{n}": "fine" for n in range(GOOD)})


@pytest.mark.parametrize(
    ("target", "failed"),
    [
        (Reply(500), "host"),
        (Reply(503), "host"),
        (Reply(429), "host"),
        (faults.garbage(), "protocol"),
        (faults.truncated(), "truncated"),
        (faults.endless_headers(), "too_large"),
    ],
    ids=["500", "503", "429", "garbage", "truncated", "endless headers"],
)
def test_a_crawl_ends_though_robots_txt_redirects_to_what_fails(visit, serve, target, failed):
    site = serve({"/robots.txt": Reply(301, {"location": "/x"}), "/x": target, "/": "page"})

    result = visit(parse, site.url("/"), robots=True, politeness__give_up_after=4)

    assert result.summary.urls.failed == {failed: 1}
    assert "robots.txt: redirected to" in result.errors[0].reason


def test_a_robots_txt_above_the_limit_of_bodies_counts_with_its_first_500_kib(visit, serve):
    rules = b"User-agent: *\nDisallow: /first\n"
    filler = b"#" * (MAX_BYTES - len(rules) - 1) + b"\n"
    site = serve(
        {
            "/robots.txt": Reply(body=rules + filler + b"Disallow: /second\n" + b"x" * 200_000),
            "/first": "no",
            "/second": "yes",
        }
    )

    result = visit(parse, site.url("/first"), site.url("/second"), robots=True, max_body=100_000)

    assert result.summary.urls.refused == {"robots": 1}
    assert [item["url"] for item in result.items] == [site.url("/second")]


@pytest.mark.parametrize("robots", [faults.gzip_bomb(2**21), faults.endless_body()])
def test_a_robots_txt_without_an_end_is_read_as_far_as_it_counts(visit, serve, robots):
    site = serve({"/robots.txt": robots, "/": "page"})

    result = visit(parse, site.url("/"), robots=True, max_body=200_000)

    assert result.summary.urls.done == 1


def test_a_page_that_links_into_a_private_network_hears_of_it_at_once(serve):
    """The guard refuses the address of the robots.txt: no retry, no hour of waiting."""
    site = serve({"/": '<a href="http://10.0.0.1/x">x</a>', "/robots.txt": Reply(404)})

    class Links(Spider):
        start_urls = (site.url("/"),)

        def parse(self, page):
            yield Request("http://10.0.0.1/x", errback=self.failed)

        def failed(self, error):
            yield {"kind": error.kind, "url": error.request.url, "reason": error.reason}

    guarded = {"allow_private": False, "allow_addresses": "127.0.0.1"}
    scope = {"domains": "10.0.0.1", "depth": 1}
    with gevent.Timeout(120):
        result = crawl(Links(), **(FAST | guarded | scope | {"robots": True}))

    balanced(result.summary)
    assert result.summary.urls.failed == {"blocked_address": 1}
    [item] = result.items
    assert item["kind"] == "blocked_address"
    assert item["url"] == "http://10.0.0.1/x"
    assert "10.0.0.1" in item["reason"]


class Turns:
    """Measures how many CPU seconds pass at most before another greenlet can run."""

    def __init__(self):
        self.longest = 0.0
        self._watching = None

    def watch(self):
        """Begin to measure; a second call does nothing."""
        self._watching = self._watching or gevent.spawn(self._measure)

    def _measure(self):
        while True:
            began = time.thread_time()
            gevent.sleep(0.001)
            self.longest = max(self.longest, time.thread_time() - began)

    def end(self):
        self._watching.kill()


def test_disallowed_links_and_wildcards_hold_nobody_up(visit, serve, good):
    wildcards = "".join(f"Disallow: /*{'a' * (n % 9)}b{n}\n" for n in range(18_000))
    links = "".join(f'<a href="/no/{"a" * 200}{n}">x</a>' for n in range(500))
    bad = serve(
        {"/robots.txt": f"User-agent: *\nDisallow: /no\n{wildcards}", "/": links},
        addresses=("127.0.0.2",),
    )

    turns = Turns()

    def follow(spider, page):
        turns.watch()
        yield from page.links()

    result = visit(
        follow, bad.url("/"), *(good.url(f"/{n}") for n in range(GOOD)), depth=1, robots=True
    )

    assert result.summary.urls.refused == {"robots": 500}
    assert result.summary.urls.done == GOOD + 1
    turns.end()
    assert turns.longest < 0.5


def test_a_dead_port_does_not_give_up_a_live_one(visit, good, quiet):
    """The failures are those of an origin; the host is asked politely as a whole."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}"
    urls = [url for n in range(GOOD) for url in (f"{dead}/{n}", good.url(f"/{n}"))]

    result = visit(parse, *urls, politeness__give_up_after=4, retries=1)

    assert result.summary.urls.done == GOOD
    assert sum(result.summary.urls.failed.values()) == GOOD
    assert result.summary.urls.failed.keys() == {"connect", "host"}
    assert len(result.errors) == GOOD


def test_one_url_that_always_answers_503_does_not_hold_its_site(visit, serve):
    site = serve({"/bad": Reply(503), **{f"/{n}": "fine" for n in range(20)}})

    result = visit(
        parse,
        site.url("/bad"),
        *(site.url(f"/{n}") for n in range(20)),
        politeness__throttle=600,
        politeness__max_backoff=600,
        politeness__max_retry_after=600,
    )

    assert len(result.items) == 20
    assert result.summary.urls.failed == {"http_503": 1}
