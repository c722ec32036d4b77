import time

import gevent
import pytest

from crawler.data import Request, Response
from crawler.errors import FetchError
from crawler.frontier import Budget, Frontier, Next, Politeness, Retries, Scope, failed, refused
from crawler.frontier.budget import Spending
from crawler.frontier.ledger import Ledger
from crawler.testing import Site

from .sites import page

PAGE = Request("http://a.test/")
RETRY = PAGE.replace(attempts=("timeout",))
HOP = PAGE.replace(redirects=("http://a.test/old",))


def spending(ledger=None, **budget):
    return Spending(Budget(**budget), ledger or Ledger())


def test_retries_and_hops_are_part_of_a_page_that_was_counted():
    spent = spending(pages=1)

    assert spent.begin(PAGE)
    assert not spent.begin(PAGE)
    assert spent.begin(RETRY)
    assert spent.begin(HOP)


@pytest.mark.parametrize(("request_", "left"), [(PAGE, True), (RETRY, False), (HOP, False)])
def test_a_page_that_was_not_fetched_is_counted_no_more(request_, left):
    spent = spending(pages=1)
    spent.begin(PAGE)

    spent.take_back(request_)

    assert spent.begin(PAGE) is left


def test_a_page_whose_robots_txt_failed_was_not_begun():
    spent = spending(pages=1)

    assert spent.begin(PAGE.replace(attempts=("robots.txt: no route to host",)))
    assert not spent.begin(PAGE)


def test_bytes_are_used_up_at_the_limit():
    spent = spending(bytes=100)

    spent.add_bytes(99, now=0.0)
    assert spent.used_up is None

    spent.add_bytes(1, now=0.0)
    assert spent.used_up == "byte_limit"


def test_errors_are_those_of_the_ledger():
    ledger = Ledger()
    spent = spending(ledger, errors=2)
    for kind in ("dns", "timeout"):
        assert spent.used_up is None
        ledger.admit()
        ledger.settle(failed(kind), PAGE.url)

    assert spent.used_up == "error_limit"


def test_bandwidth_that_was_used_must_be_made_up_for():
    spent = spending(bandwidth=100.0)

    spent.add_bytes(200, now=10.0)
    spent.add_bytes(100, now=11.0)
    assert spent.free_at == 13.0

    spent.add_bytes(100, now=50.0)
    assert spent.free_at == 51.0
    assert spent.used_up is None


# -- what waits when the pages are used up ----------------------------------------------------


def frontier_with(**budget):
    """Return a frontier with two pages that are taken, and two that wait."""
    frontier = Frontier(
        Scope(["a.test", "b.test"], None),
        budget=Budget(**budget),
        politeness=Politeness.off(jitter=0.0),
        retries=Retries(wait=5.0),
        clock=(clock := Clock()),
    )
    for name in ("one", "two", "three", "four"):
        frontier.admit(Request(f"http://a.test/{name}"))
    return frontier, clock, [frontier.take() for _ in range(2)]


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def reply(taken, status, **headers):
    return Response(taken.request.url, status, headers, b"12345", taken.request)


def take_or_none(frontier):
    with gevent.Timeout(0.01, False):
        return frontier.take()


def test_a_hop_that_waits_when_the_pages_are_used_up_is_fetched():
    frontier, _, (one, _) = frontier_with(pages=2)
    frontier.pause("b.test")
    frontier.fetched(one, reply(one, 302, location="http://b.test/hop"))
    assert take_or_none(frontier) is None
    assert frontier.view.counts().refused == {"page_limit": 2}

    frontier.resume("b.test")

    assert frontier.take().request.url == "http://b.test/hop"


def test_a_page_that_is_redirected_after_the_pages_are_used_up_is_followed():
    frontier, _, (one, _) = frontier_with(pages=2)
    assert take_or_none(frontier) is None
    assert frontier.view.counts().refused == {"page_limit": 2}

    assert frontier.fetched(one, reply(one, 302, location="/hop")) is Next.AGAIN

    assert frontier.take().request.url == "http://a.test/hop"


def test_a_retry_keeps_its_place_and_its_time():
    frontier, clock, (one, two) = frontier_with(pages=2)
    frontier.fetched(one, reply(one, 500))
    assert take_or_none(frontier) is None
    frontier.fetched(two, reply(two, 500))

    assert take_or_none(frontier) is None
    clock.now += 6

    assert {frontier.take().request.url, frontier.take().request.url} == {
        "http://a.test/one",
        "http://a.test/two",
    }


def test_another_limit_ends_the_pages_that_were_begun_too():
    frontier, clock, (one, two) = frontier_with(pages=2, bytes=8)
    frontier.fetched(one, reply(one, 500))
    assert take_or_none(frontier) is None
    outcome = frontier.fetched(two, reply(two, 302, location="/hop"))
    clock.now += 6

    assert take_or_none(frontier) is None
    assert outcome == refused("byte_limit")
    assert frontier.view.counts().refused == {"page_limit": 2, "byte_limit": 1}


# -- limits of a crawl ------------------------------------------------------------------------


class TestCrawls:
    def test_the_page_limit_is_exact_and_the_rest_has_its_outcome(self, crawl):
        site = Site({f"/{n}": page(f"/{n + 1}", f"/{n + 100}") for n in range(300)})

        summary, _ = crawl(site.url("/0"), fetch=site, robots=False, budget=Budget(pages=10))

        assert len(site.requests) == 10
        assert summary.urls.done == 10
        assert summary.urls.refused["page_limit"] > 0

    def test_the_byte_limit(self, crawl):
        site = Site({f"/{n}": page(f"/{n + 1}", f"/{n + 2}") + "x" * 1000 for n in range(300)})

        summary, _ = crawl(
            site.url("/0"), fetch=site, robots=False, per_host=1, budget=Budget(bytes=5000)
        )

        assert 5 <= len(site.requests) <= 6
        assert "byte_limit" in summary.urls.refused | summary.urls.turned_away

    def test_the_error_limit(self, crawl):
        site = Site({f"/{n}": FetchError("too_large", "!") for n in range(50)})

        summary, _ = crawl(
            [site.url(path) for path in map("/{}".format, range(50))],
            fetch=site,
            robots=False,
            per_host=1,
            budget=Budget(errors=3),
        )

        assert summary.urls.failed == {"too_large": 3}
        assert summary.urls.refused == {"error_limit": 47}

    def test_the_time_limit(self, crawl):
        endless = {"/": lambda request: page(f"/?{time.monotonic()}", f"/?{time.monotonic()}b")}
        site = Site(endless)

        summary, _ = crawl(
            site.url("/"), fetch=site, robots=False, delay=0.01, budget=Budget(seconds=0.3)
        )

        assert "time_limit" in summary.urls.refused | summary.urls.turned_away

    def test_a_crawl_that_has_become_too_slow_is_cut_off(self, crawl):
        pages = {f"/{n}": page() for n in range(5)}
        site = Site(pages)

        summary, _ = crawl(
            [site.url(path) for path in pages],
            fetch=site,
            robots=False,
            per_host=1,
            delay=5.0,
            budget=Budget(min_rate=100, patience=0.3),
        )

        assert summary.urls.refused == {"slow": 4}

    def test_bandwidth_is_kept_to(self, crawl):
        site = Site({f"/{n}": "x" * 10_000 for n in range(6)})
        began = time.monotonic()

        crawl(
            [site.url(f"/{n}") for n in range(6)],
            fetch=site,
            robots=False,
            per_host=1,
            budget=Budget(bandwidth=100_000),
        )

        assert time.monotonic() - began >= 0.5
