"""Hosts that hang beside hosts that answer, on a clock that is set by hand."""

import heapq
from collections import Counter
from itertools import count

import gevent
import pytest

from crawler.data import Request, Response
from crawler.errors import ModuleError
from crawler.frontier import Frontier, Next, Politeness, Retries, Scope, failed
from crawler.url import host as host_of

from .scheduling import drain

SLOTS = 16
HANGS = 60.0
ANSWERS = 0.05
HOUR = 3600.0
MANY = [f"slow-{n}.test" for n in range(75)]
DOMAINS = ["good.test", "good-too.test", "slow.test", "other.test", *MANY]


class Crawl:
    """
    A frontier and its slots, from event to event: the clock jumps to the next one.

    Hosts called good answer at once with a link to one more page; all others hang until their
    timeout, but some answer for their robots.txt.
    """

    def __init__(self, robots=False, slots=SLOTS, **politeness):
        self.now = 1000.0
        self.slots = slots
        self.in_flight = []
        self.begun = []
        self.good = ("good",)
        #: Whether no page links to another any more.
        self.is_over = False
        self.most_slow = 0
        self._numbers = count()
        self.frontier = Frontier(
            Scope(DOMAINS, None),
            politeness=Politeness(
                robots=robots, jitter=0.0, backoff=HOUR, give_up_after=99, **politeness
            ),
            retries=Retries(1),
            slots=slots,
            clock=lambda: self.now,
        )

    def admit(self, *hosts, pages=1):
        for name in hosts:
            for _ in range(pages):
                self.frontier.admit(Request(f"http://{name}/{next(self._numbers)}"))

    def drop(self, name):
        """Let nothing more wait for the host *name*."""
        hosts = self.frontier._parts.hosts
        drain(hosts, hosts.find(name), self.now)

    def run(self, seconds):
        end = self.now + seconds
        while self.now < end:
            while len(self.in_flight) < self.slots and (taken := self._take()) is not None:
                self._begin(taken)
            self.now = min(end, self._next_event())
            while self.in_flight and self.in_flight[0][0] <= self.now:
                self._end(heapq.heappop(self.in_flight)[2])

    def fetched(self, name, since=0.0):
        """Return how many requests to the host *name* have begun."""
        return sum(at >= since for at, host in self.begun if host == name)

    @property
    def slow(self):
        """How many requests that hang are in flight."""
        return sum(not self._is_good(taken) for _, _, taken in self.in_flight)

    def _take(self):
        with gevent.Timeout(0, False):
            return self.frontier.take()

    def _next_event(self):
        wake = self.frontier.view.next_wake()
        ends = self.in_flight[0][0] if self.in_flight else self.now + HANGS
        return ends if not wake else min(ends, self.now + wake)

    def _begin(self, taken):
        self.begun.append((self.now, host_of(taken.request.url)))
        quick = taken.is_robots or self._is_good(taken)
        end = self.now + (ANSWERS if quick else HANGS)
        heapq.heappush(self.in_flight, (end, next(self._numbers), taken))
        self.most_slow = max(self.most_slow, self.slow)

    def _end(self, taken):
        request = taken.request
        if not (taken.is_robots or self._is_good(taken)):
            self.frontier.fetched(taken, ModuleError("fetch", request, "no answer", "timeout"))
            self.frontier.settle(taken, failed("timeout"))
            return
        response = Response(request.url, 404 if taken.is_robots else 200, {}, b"", request, ANSWERS)
        if self.frontier.fetched(taken, response) is Next.ANALYZE:
            if not self.is_over:
                self.admit(host_of(request.url))
            self.frontier.settle(taken, failed("nothing"))

    def _is_good(self, taken):
        return host_of(taken.request.url).startswith(self.good)


def alone(seconds, **options):
    crawl = Crawl(**options)
    crawl.admit("good.test", pages=8)
    crawl.run(seconds)
    assert crawl.fetched("good.test") > seconds
    return crawl.fetched("good.test")


def of_one_domain(number=75):
    return [f"h{n}.slow.test" for n in range(number)]


def of_many_domains(number=75):
    return MANY[:number]


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


@pytest.mark.parametrize("robots", [False, True], ids=["no robots", "robots"])
@pytest.mark.parametrize("hosts", [of_one_domain, of_many_domains])
def test_a_quick_host_keeps_its_rate_when_many_hang_that_were_found_later(robots, hosts):
    crawl = Crawl(robots=robots)
    crawl.admit("good.test", pages=8)
    crawl.run(5)
    crawl.admit(*hosts())
    began = crawl.now

    crawl.run(120)

    assert crawl.fetched("good.test", since=began) >= 0.9 * alone(120, robots=robots)
    assert crawl.most_slow <= SLOTS // 2


@pytest.mark.parametrize("robots", [False, True], ids=["no robots", "robots"])
def test_a_new_host_behind_many_new_ones_of_one_domain_keeps_its_rate(robots):
    crawl = Crawl(robots=robots)
    crawl.admit(*of_one_domain())
    crawl.admit("good.test", pages=8)

    crawl.run(120)

    assert crawl.fetched("good.test") >= 0.9 * alone(120, robots=robots)
    assert crawl.most_slow <= SLOTS // 2


def test_a_host_that_is_found_while_many_hang_finds_a_slot_at_once():
    crawl = Crawl()
    crawl.admit("good.test", pages=8)
    crawl.admit(*of_one_domain())
    crawl.run(20)

    crawl.admit("good-too.test", pages=8)
    crawl.run(20)

    assert crawl.fetched("good-too.test") >= 0.9 * alone(20)


def test_a_host_with_one_page_at_a_time_and_no_delay_is_known_as_quick():
    """Between two pages it has nothing to do, and is forgotten."""
    crawl = Crawl(delay=0.0, latency_factor=0.0)
    crawl.admit(*of_one_domain())
    crawl.admit("good.test")

    crawl.run(10)

    assert crawl.fetched("good.test") >= 10 / ANSWERS


def test_hosts_of_a_domain_that_have_answered_and_hang_all_at_once_do_so_once():
    crawl = Crawl()
    crawl.good = ("good", "h")
    crawl.admit("good.test", *of_one_domain(), pages=8)
    crawl.run(10)
    crawl.good = ("good",)
    crawl.run(HANGS + 1)
    began = crawl.now

    crawl.run(180)

    assert crawl.fetched("good.test", since=began) >= 0.9 * alone(180)


def test_one_host_that_hangs_and_answers_at_the_same_time_takes_no_more_than_a_share():
    crawl = Crawl(per_host=10)
    crawl.admit("good.test", pages=8)
    crawl.run(5)
    crawl.admit("slow.test", "other.test", pages=100)
    crawl.run(60)

    assert crawl.most_slow <= SLOTS // 2
    assert crawl.fetched("other.test") > 1


@pytest.mark.parametrize("hosts", [["slow.test"], of_one_domain()], ids=["host", "hosts"])
def test_a_domain_that_is_alone_uses_all_slots(hosts):
    crawl = Crawl(per_host=SLOTS, delay=0.0, latency_factor=0.0)
    crawl.admit(*hosts, pages=SLOTS)

    crawl.run(10)

    assert crawl.slow == SLOTS


def test_new_domains_use_all_slots_while_no_quick_host_has_work():
    crawl = Crawl()
    crawl.admit(*of_many_domains())

    crawl.run(10)

    assert crawl.slow == SLOTS


def test_slow_hosts_get_all_slots_some_time_after_the_quick_one_is_done():
    crawl = Crawl()
    crawl.admit("good.test", pages=8)
    crawl.run(5)
    crawl.admit(*of_one_domain())
    crawl.run(5)
    assert crawl.slow == SLOTS // 4

    crawl.drop("good.test")
    crawl.run(29)
    assert crawl.slow == SLOTS // 2
    assert crawl.frontier.view.resting() == crawl.frontier.view.waiting_for() == "slow hosts"
    crawl.run(2)
    crawl.run(1)

    assert crawl.slow == SLOTS


def test_a_host_that_comes_when_all_slots_are_taken_gets_the_first_that_is_free():
    crawl = Crawl()
    crawl.admit(*of_one_domain())
    crawl.run(30)
    assert crawl.slow == SLOTS

    crawl.admit("good.test", pages=8)
    crawl.run(HANGS - 30 + 10)

    assert crawl.fetched("good.test") >= 0.9 * alone(9)


def test_one_slot_serves_all():
    crawl = Crawl(slots=1)
    crawl.admit("good.test", *of_one_domain(3), pages=2)

    crawl.run(10 * HANGS)

    assert Counter(name for _, name in crawl.begun).keys() == {"good.test", *of_one_domain(3)}


def test_a_domain_with_several_heavy_pages_gets_no_more_of_them():
    crawl = Crawl(delay=0.0, latency_factor=0.0, per_host=9, slots=100)
    frontier = crawl.frontier
    crawl.admit("good.test", "a.good-too.test", "b.good-too.test", pages=20)
    taken = [crawl._take() for _ in range(30)]
    heavy = [one for one in taken if one is not None and "good-too" in one.request.url]
    assert len(heavy) > 4
    for one in heavy[:4]:
        frontier.fetched(one, Response(one.request.url, 200, {}, b"", one.request, ANSWERS))
        frontier.mark_heavy(one)
        frontier.mark_heavy(one)

    assert crawl._take() is None
    assert frontier.view.waiting_for() == frontier.view.resting() == "large pages"
    assert not frontier.view.is_alone(heavy[0])

    frontier.settle(heavy[0], failed("nothing"))
    assert host_of(crawl._take().request.url).endswith("good-too.test")
    frontier.mark_heavy(heavy[1], is_heavy=False)
    assert crawl._take() is not None
    assert heavy[1].host.domain.heavy == 2


def test_a_domain_is_alone_when_no_other_has_work_and_has_had_it_for_a_while():
    crawl = Crawl(delay=0.0, latency_factor=0.0)
    crawl.admit("good.test", pages=8)
    crawl.run(1)
    crawl.admit("good-too.test")
    other = crawl._take()
    assert not crawl.frontier.view.is_alone(other)

    crawl.is_over = True
    crawl.run(1)
    assert not crawl.frontier.view.is_alone(other)
    crawl.now += 60

    assert crawl.frontier.view.is_alone(other)


def test_nothing_is_kept_of_what_is_over():
    crawl = Crawl()
    crawl.admit("good.test", *of_one_domain(), *of_many_domains())
    crawl.run(20)
    crawl.frontier.cut_off("enough")
    crawl.run(100)
    assert crawl.frontier.join(timeout=120)

    shares = crawl.frontier._parts.hosts.shares
    assert not crawl.in_flight
    assert (shares.slow, shares._active_domains, len(shares._flights)) == (0, 0, 0)
    assert not shares.holds_back
