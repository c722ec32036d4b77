"""A robots.txt that cannot be had: every page that waits for it ends, and says why."""

import gevent
import pytest

from crawler.data import Request
from crawler.frontier import Retries, failed

from .steps import answer, balances, fail, take, take_failed

KINDS = ["protocol", "truncated", "too_large", "blocked_address", "dns", "connect", "timeout"]


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


def live(crawl, clock, step, most=100):
    """Carry out *step* on what is taken until nothing is left; return what was fetched."""
    fetched = []
    while not crawl.view.idle:
        taken = take(crawl)
        if taken is None:
            clock.now += crawl.view.next_wake()
        elif taken.failure is not None:
            crawl.settle(taken, failed(taken.failure.kind))
        else:
            fetched.append(taken.request.url)
            assert len(fetched) < most, "it never ends"
            step(taken)
        assert balances(crawl)
    return fetched


def with_pages(crawl, number=3):
    for n in range(number):
        crawl.admit(Request(f"http://a.test/{n}"))
    return crawl


@pytest.mark.parametrize("target", ["http://a.test/other", "http://b.test/robots.txt"])
@pytest.mark.parametrize("trouble", [500, 502, 503, 429, *KINDS])
def test_a_crawl_ends_though_robots_txt_redirects_to_what_fails(frontier, clock, trouble, target):
    crawl = with_pages(frontier(robots=True, retries=Retries(3)))

    def step(taken):
        if taken.request.url.endswith("a.test/robots.txt"):
            answer(crawl, taken, 301, location=target)
        elif isinstance(trouble, int):
            answer(crawl, taken, trouble)
        else:
            fail(crawl, taken, trouble)

    live(crawl, clock, step)

    kind = "host" if isinstance(trouble, int) else trouble
    assert crawl.view.counts().failed == {kind: 3}


@pytest.mark.parametrize("kind", ["blocked_address", "bad_request", "too_large", "download"])
def test_a_failure_that_no_retry_can_change_ends_the_pages_at_once(frontier, kind):
    crawl = with_pages(frontier(robots=True, retries=Retries(3)))

    fail(crawl, take(crawl), kind)

    failures = take_failed(crawl)
    assert crawl.view.counts().failed == {kind: 3}
    assert {failure.kind for failure in failures} == {kind}
    assert {failure.reason for failure in failures} == {"robots.txt: no"}
    assert [failure.request.attempts for failure in failures] == [("robots.txt: no",)] * 3


@pytest.mark.parametrize("kind", ["dns", "connect", "tls", "timeout", "truncated", "protocol"])
@pytest.mark.parametrize("attempts", [1, 3])
def test_another_failure_ends_them_after_as_many_attempts_as_a_page_has(
    frontier, clock, kind, attempts
):
    crawl = with_pages(frontier(robots=True, retries=Retries(attempts)))

    fetched = live(crawl, clock, lambda taken: fail(crawl, taken, kind))

    assert fetched == ["http://a.test/robots.txt"] * attempts
    assert crawl.view.counts().failed == {kind: 3}
    assert clock.now - 1000 <= 2 + 1, "it rested for a second, then for two"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_answer_that_is_none_is_asked_for_until_the_origin_is_given_up(frontier, clock, status):
    crawl = with_pages(frontier(robots=True, give_up_after=4, retries=Retries(2)))

    fetched = live(crawl, clock, lambda taken: answer(crawl, taken, status))

    assert len(fetched) == 4
    assert crawl.view.counts().failed == {"host": 3}
    assert clock.now == 1000 + 30 + 60 + 120
    assert crawl.admit(Request("http://a.test/late")) == "host"


def test_the_failure_holds_for_pages_that_are_found_soon_and_then_it_is_asked_again(
    frontier, clock
):
    crawl = with_pages(frontier(robots=True), 1)
    fail(crawl, take(crawl), "blocked_address")
    take_failed(crawl)

    clock.now += 200
    crawl.admit(Request("http://a.test/soon"))
    assert [failure.kind for failure in take_failed(crawl)] == ["blocked_address"]

    clock.now += 200
    crawl.admit(Request("http://a.test/late"))
    assert take(crawl).request.url == "http://a.test/robots.txt"


def test_the_reason_tells_where_robots_txt_was_redirected_to(frontier):
    crawl = with_pages(frontier(robots=True), 1)

    answer(crawl, take(crawl), 302, location="http://b.test/x")
    fail(crawl, take(crawl), "blocked_address")

    [failure] = take_failed(crawl)
    assert failure.reason == "robots.txt: redirected to http://b.test/x: no"


def test_a_retry_after_of_robots_txt_is_kept(frontier, clock):
    crawl = with_pages(frontier(robots=True), 1)

    answer(crawl, take(crawl), 503, retry_after="7")

    assert take(crawl) is None
    assert crawl.view.next_wake() == 7.0
    clock.now += 7
    assert take(crawl).request.url == "http://a.test/robots.txt"


def test_an_expired_answer_holds_while_there_is_no_new_one(frontier, clock):
    crawl = with_pages(frontier(robots=True), 1)
    answer(crawl, take(crawl), body=b"User-agent: *\nDisallow: /no")
    answer(crawl, take(crawl))
    clock.now += 90_000
    crawl.admit(Request("http://a.test/no"))
    crawl.admit(Request("http://a.test/yes"))

    fail(crawl, take(crawl), "blocked_address")

    assert take(crawl).request.url == "http://a.test/yes"
    assert crawl.view.counts().refused == {"robots": 1}


# -- Crawl-delay ------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["301", "999999999", "9" * 400])
def test_pages_of_a_host_that_asks_for_too_long_a_delay_are_refused(frontier, asked):
    crawl = with_pages(frontier(robots=True))

    answer(crawl, take(crawl), body=f"User-agent: *\nDisallow: /2\nCrawl-delay: {asked}".encode())

    assert take(crawl) is None
    assert crawl.view.counts().refused == {"crawl_delay": 2, "robots": 1}
    assert crawl.view.idle


def test_a_delay_up_to_the_limit_is_obeyed(frontier, clock):
    crawl = with_pages(frontier(robots=True, max_crawl_delay=5000.0))

    answer(crawl, take(crawl), body=b"User-agent: *\nCrawl-delay: 5000")

    assert take(crawl) is None
    assert crawl.view.next_wake() == 5000.0
