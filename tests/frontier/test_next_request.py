"""Looking for the next request never holds the other greenlets up for long."""

import gevent
import pytest

from crawler.data import Link, Request
from crawler.frontier import Budget, Frontier, Politeness, Scope, failed
from crawler.frontier.endings import PER_TURN
from crawler.frontier.hosts.wakeup import Wakeup

from .steps import answer, balances, fail, take, take_failed

RULES = b"User-agent: *\nDisallow: /no"


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


@pytest.fixture
def turns():
    """A list that grows each time that other greenlets may run."""
    counted = []

    def count():
        while True:
            counted.append(1)
            gevent.sleep(0)

    greenlet = gevent.spawn(count)
    yield counted
    greenlet.kill()


def disallowed(crawl, number):
    """Let that many disallowed pages wait for a host whose robots.txt is known."""
    crawl.admit(Request("http://a.test/"))
    answer(crawl, crawl.take(), body=RULES)
    answer(crawl, crawl.take())
    for n in range(number):
        crawl.admit(Link(f"http://a.test/no/{n}", 1, None))


def test_other_greenlets_run_while_disallowed_pages_are_dropped(frontier, turns):
    crawl = frontier(robots=True)
    disallowed(crawl, 50 * PER_TURN)
    crawl.admit(Link("http://a.test/yes", 1, None))
    del turns[:]

    assert crawl.take().request.url == "http://a.test/yes"

    assert len(turns) >= 50
    assert crawl.view.counts().refused == {"robots": 50 * PER_TURN}
    assert balances(crawl)


def test_other_hosts_are_served_while_disallowed_pages_are_dropped(frontier, clock):
    crawl = frontier(robots=True, per_host=1)
    crawl.admit(Request("http://b.test/"))
    answer(crawl, crawl.take(), body=RULES)
    answer(crawl, crawl.take())
    disallowed(crawl, 50 * PER_TURN)
    clock.now += 1
    for n in range(10):
        crawl.admit(Link(f"http://b.test/{n}", 1, None))

    for n in range(10):
        taken = crawl.take()
        assert taken.request.url == f"http://b.test/{n}"
        answer(crawl, taken)

    assert crawl.view.counts().refused["robots"] <= 12 * PER_TURN


def test_hosts_with_a_disallowed_page_each_are_dropped_in_turns(frontier, turns):
    crawl = frontier(robots=True, share="host")
    hosts = [f"http://h{n}.a.test" for n in range(4 * PER_TURN)]
    for host in hosts:
        crawl.admit(Request(f"{host}/no"))
    taken = [crawl.take() for _ in hosts]
    for question in taken:
        answer(crawl, question, body=RULES)
    crawl.admit(Request("http://b.test/"))
    del turns[:]

    assert crawl.take().request.url == "http://b.test/robots.txt"
    taker = gevent.spawn(crawl.take)
    while crawl.view.counts().pending > 1:
        gevent.sleep(0.001)
    taker.kill()

    assert crawl.view.counts().refused == {"robots": 4 * PER_TURN}
    assert len(turns) >= 4


def test_a_page_that_failed_while_it_waited_takes_no_place_of_its_host(frontier, clock):
    crawl = frontier(robots=True, per_host=1, delay=10.0, budget=Budget(pages=1))
    for n in range(3):
        crawl.admit(Request(f"http://a.test/{n}"))
    fail(crawl, take(crawl), "blocked_address")
    clock.now += 10

    taken = take(crawl)
    assert taken.failure.kind == "blocked_address"
    crawl.put_back(taken)
    again = [take(crawl) for _ in range(3)]

    assert all(one.failure is not None for one in again)
    for one in again:
        crawl.settle(one, failed(one.failure.kind))
    crawl.admit(Request("http://b.test/"))
    answer(crawl, take(crawl), 404)
    clock.now += 10
    assert take(crawl).request.url == "http://b.test/", "they count for no limit of pages"
    assert balances(crawl)


def test_pages_of_an_origin_that_rests_are_put_off_and_others_of_its_host_are_not(frontier, clock):
    crawl = frontier(backoff=10.0, per_host=1)
    for n in range(3):
        crawl.admit(Request(f"http://a.test:9/{n}"))
        crawl.admit(Request(f"http://a.test/{n}"))

    fail(crawl, take(crawl))
    order = []
    while (taken := take(crawl)) is not None:
        order.append(taken.request.url)
        answer(crawl, taken)

    assert order == [f"http://a.test/{n}" for n in range(3)]
    assert crawl.view.next_wake() == 10.0
    assert crawl.view.hosts()[0].why == "connect"
    clock.now += 10
    assert take(crawl).request.url == "http://a.test:9/1"


def test_if_many_are_put_off_their_host_rests(frontier):
    crawl = frontier(backoff=10.0, per_host=1)
    for n in range(2000):
        crawl.admit(Link(f"http://a.test/{n}", 1, None))

    fail(crawl, crawl.take())
    host, taker = crawl._parts.hosts.find("a.test"), gevent.spawn(crawl.take)
    while host.ready_at <= 1000.0:
        gevent.sleep(0.001)

    assert len(host.retries) == 256
    assert crawl.view.next_wake() == 10.0
    assert not taker.ready()
    taker.kill()


def test_those_put_off_keep_their_order(frontier, clock):
    crawl = frontier(backoff=10.0, per_host=1)
    for n in range(5):
        crawl.admit(Link(f"http://a.test/{n}", 1, None))
    fail(crawl, take(crawl))
    assert take(crawl) is None

    clock.now += 10
    order = []
    while (taken := take(crawl)) is not None:
        order.append(taken.request.url[-1])
        answer(crawl, taken)

    assert order == ["1", "2", "3", "4"]


def test_a_dead_origin_fails_what_waits_for_it_and_a_live_one_goes_on(frontier, clock):
    crawl = frontier(give_up_after=2, per_host=1)
    for n in range(3):
        crawl.admit(Request(f"http://a.test:9/{n}"))
        crawl.admit(Request(f"http://a.test/{n}"))

    fetched = []
    while not crawl.view.idle:
        taken = take(crawl)
        if taken is None:
            clock.now += crawl.view.next_wake()
        elif taken.failure is not None:
            assert (
                taken.failure.reason == "http://a.test:9 failed 2 times in a row, the last time: no"
            )
            crawl.settle(taken, failed(taken.failure.kind))
        elif ":9" in taken.request.url:
            fetched.append(taken.request.url)
            fail(crawl, taken)
        else:
            answer(crawl, taken)

    counts = crawl.view.counts()
    assert (counts.done, counts.failed) == (3, {"connect": 2, "host": 1})
    assert crawl.admit(Request("http://a.test:9/late")) == "host"
    assert crawl.admit(Request("http://a.test/late")) is None
    assert not take_failed_of(crawl, "http://a.test/late")


def take_failed_of(crawl, url):
    taken = take(crawl)
    assert taken.request.url == url
    answer(crawl, taken)
    return take_failed(crawl)


def test_one_greenlet_waits_for_several_frontiers_that_share_a_wakeup():
    wakeup, now = Wakeup(), 0.0
    frontiers = [
        Frontier(
            Scope([name]),
            politeness=Politeness(delay=delay, jitter=0, robots=False),
            wakeup=wakeup,
            clock=lambda: now,
        )
        for name, delay in (("a.test", 5), ("b.test", 2))
    ]
    for one, name in zip(frontiers, ("a", "b"), strict=True):
        one.admit(Request(f"http://{name}.test/1"))
        one.admit(Request(f"http://{name}.test/2"))

    assert [one.take_due().request.url for one in frontiers] == [
        "http://a.test/1",
        "http://b.test/1",
    ]
    assert [one.take_due() for one in frontiers] == [None, None]
    assert [one.next_due(now) for one in frontiers] == [5, 2]

    sleeping = gevent.spawn(wakeup.sleep, now, 2)
    gevent.idle()
    frontiers[0].admit(Request("http://other.a.test/"))

    sleeping.get(timeout=120)
    assert frontiers[0].take_due().request.url == "http://other.a.test/"
