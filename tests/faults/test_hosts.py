"""Hosts that are down, slow or hostile: all pages of a good host beside them are fetched."""

import socket
from collections import Counter

import gevent
import pytest

from crawler.testing import Reply, faults
from crawler.url import host

GOOD = 60


def parse(spider, page):
    yield {"url": page.url}


@pytest.fixture
def good(serve):
    return serve({f"/{n}": "fine" for n in range(GOOD)})


def refused():
    """Return the URL of a port without a listener."""
    with socket.create_server(("127.0.0.9", 0)) as closed:
        return f"http://127.0.0.9:{closed.getsockname()[1]}"


def check(result, good, kinds):
    items = Counter(item["url"] for item in result.items)
    assert items == Counter(good.url(f"/{n}") for n in range(GOOD))
    assert result.summary.urls.failed.keys() <= kinds
    assert all(host(error.request.url) != "127.0.0.1" for error in result.errors)


@pytest.mark.parametrize(
    ("base", "kinds"),
    [
        (refused(), {"connect", "host"}),
        ("http://no-such-host.invalid", {"dns", "host"}),
    ],
    ids=["closed port", "no such name"],
)
def test_a_host_that_is_not_there_is_given_up(visit, good, quiet, base, kinds):
    result = visit(
        parse,
        *(good.url(f"/{n}") for n in range(GOOD)),
        *(f"{base}/{n}" for n in range(GOOD)),
        politeness__give_up_after=8,
    )

    check(result, good, kinds)
    assert sum(result.summary.urls.failed.values()) == GOOD


@pytest.mark.parametrize(
    "url",
    [
        f"http://{'a' * 64}.invalid/",
        "http://xn--a.invalid/",
        "http://%zz.invalid/",
        "http://[fe80::1%25eth0]/",
        "http://a..invalid/",
        "http://\u2488com.invalid/",
        "http://0x7f.1.1.1.1/",
        "http://999.999.999.999/",
        "http:///",
        "http://user:@:80/",
    ],
)
def test_an_odd_name_is_turned_away_or_fails_by_name(visit, good, quiet, url):
    result = visit(parse, *(good.url(f"/{n}") for n in range(GOOD)), url, retries=1)

    check(result, good, {"dns", "connect", "bad_request", "blocked_address"})
    urls = result.summary.urls
    assert sum(urls.failed.values()) + sum(urls.turned_away.values()) == 1


def test_fifty_slow_ones_do_not_take_the_slots_of_a_good_one(visit, serve, quiet):
    """The slow ones end when the last good page was requested, and not by their timeout."""
    pages = [faults.drip(every=0.2), faults.drip_headers(0.2), faults.silence()]
    slow = serve({f"/{n}": pages[n % 3] for n in range(50)}, addresses=("127.0.0.2",))

    def page(_):
        if len(good.requests) == GOOD:
            gevent.spawn(slow.stop)
        return "fine"

    good = serve({f"/{n}": page for n in range(GOOD)})

    result = visit(
        parse,
        *(slow.url(f"/{n}") for n in range(50)),
        *(good.url(f"/{n}") for n in range(GOOD)),
        timeout=100,
        retries=1,
        concurrency=64,
        per_host=50,
    )

    check(result, good, {"network", "truncated", "connect", "timeout"})
    assert result.summary.urls.failed.get("timeout") is None
    assert sum(result.summary.urls.failed.values()) == 50


@pytest.mark.parametrize(
    "robots",
    [faults.gzip_bomb(2**21), faults.endless_body(), Reply(302, {"location": "/robots.txt"})],
)
def test_a_hostile_robots_txt_costs_its_own_host(visit, serve, good, quiet, robots):
    bad = serve({"/robots.txt": robots, "/": "page"}, addresses=("127.0.0.2",))

    result = visit(
        parse,
        bad.url("/"),
        *(good.url(f"/{n}") for n in range(GOOD)),
        robots=True,
        max_body=200_000,
        politeness__give_up_after=4,
    )

    items = {item["url"] for item in result.items} - {bad.url("/")}
    assert len(items) == GOOD
    assert len(bad.requests) < 60


def test_a_storm_of_errors_is_no_end(visit, serve, good, quiet):
    sick = serve({"/": Reply(500)}, addresses=("127.0.0.2",))

    result = visit(
        parse,
        *(sick.url(f"/?{n}") for n in range(300)),
        *(good.url(f"/{n}") for n in range(GOOD)),
        retries=1,
    )

    check(result, good, {"http_500"})
    assert result.summary.urls.failed == {"http_500": 300}
