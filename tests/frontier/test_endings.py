"""The end of all that waits comes in parts, and each request ends once."""

import gevent
import pytest

from crawler.data import Link, Request
from crawler.frontier import Retries
from crawler.frontier.endings import PER_TURN

from .steps import answer, balances, fail, take

MANY = 20 * PER_TURN


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


def filled(crawl, hosts=("a", "b")):
    for n in range(MANY):
        crawl.admit(Link(f"http://{hosts[n % len(hosts)]}.test/{n}", 1, None))
    return crawl


@pytest.mark.parametrize("hosts", ["a", "abc"])
def test_other_greenlets_run_while_all_that_waits_is_refused(frontier, hosts):
    crawl = filled(frontier(per_host=9), hosts)
    taken = crawl.take()

    crawl.cut_off("time_limit")

    assert 0 < crawl.view.counts().pending < MANY
    turns = 0
    while crawl.view.counts().pending > 1:
        turns += 1
        assert balances(crawl)
        assert len(crawl.view) == crawl.view.counts().pending - 1
        gevent.sleep(0)
    assert turns >= 10
    assert crawl.admit(Request("http://a.test/new")) == "time_limit"
    answer(crawl, taken)
    assert crawl.view.counts().refused == {"time_limit": MANY - 1}
    assert crawl.view.idle


def test_nothing_is_taken_while_all_that_waits_is_refused(frontier):
    crawl = filled(frontier(per_host=9))
    dropped = []
    crawl.events.on_drop = lambda request, outcome: dropped.append(request.url)
    takers = [gevent.spawn(take, crawl) for _ in range(3)]

    crawl.cut_off("slow")

    assert crawl.join()
    gevent.joinall(takers)
    assert [taker.value for taker in takers] == [None] * 3
    assert len(dropped) == len(set(dropped)) == MANY


def test_what_is_not_refused_when_the_frontier_closes_stays_pending(frontier):
    crawl = filled(frontier())
    crawl.cut_off("slow")
    left = crawl.view.counts().pending

    crawl.close()
    for _ in range(5):
        gevent.sleep(0)

    assert 0 < crawl.view.counts().pending == left
    assert balances(crawl)


def test_a_second_limit_ends_what_the_first_has_spared(frontier):
    crawl = frontier(per_host=9, retries=Retries(3, wait=50.0))
    crawl.admit(Request("http://a.test/begun"))
    fail(crawl, take(crawl), "truncated")
    filled(crawl)

    crawl.cut_off("page_limit")
    crawl.cut_off("time_limit")

    assert crawl.join()
    counts = crawl.view.counts()
    assert counts.refused["page_limit"] + counts.refused["time_limit"] == MANY + 1
    assert balances(crawl)


def test_a_limit_of_pages_spares_those_begun_but_not_those_that_wait_for_their_origin(
    frontier, clock
):
    crawl = frontier(per_host=1, backoff=100.0, retries=Retries(3, wait=50.0))
    for n in range(5):
        crawl.admit(Request(f"http://a.test/{n}"))
    fail(crawl, take(crawl))
    assert take(crawl) is None

    crawl.cut_off("page_limit")

    assert crawl.view.counts().refused == {"page_limit": 4}
    clock.now += 100
    answer(crawl, take(crawl))
    assert crawl.view.counts().done == 1
    assert crawl.view.idle


def test_an_origin_is_given_up_by_its_name_and_the_last_failure(frontier, clock, caplog):
    crawl = frontier(give_up_after=1)
    crawl.admit(Request("http://a.test:81/"))

    fail(crawl, take(crawl))

    assert caplog.messages == [
        "http://a.test:81 failed 1 times in a row, the last time: no; it is given up"
    ]
