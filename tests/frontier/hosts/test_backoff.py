"""How long hosts rest that ask for it, or fail: real fetches from real servers."""

import time
from collections import Counter
from contextlib import ExitStack
from email.utils import formatdate

import gevent
import pytest

from crawler import CurlFetch
from crawler.data import Request
from crawler.errors import FetchError
from crawler.fetch import Limits
from crawler.frontier import Retries, failed
from crawler.testing import LoopbackSite, Reply, Site, faults

from ...cpu_time import is_idle
from ..conftest import running
from ..sites import after, closed_port, page
from ..steps import answer, fail, take, take_failed


class TestThrottling:
    @pytest.mark.parametrize("form", ["seconds", "date", "past", "junk", "huge"])
    def test_retry_after_is_waited_for_in_each_of_its_forms(self, crawl, form):
        text = {
            "seconds": "1",
            "date": formatdate(time.time() + 3, usegmt=True),
            "past": formatdate(time.time() - 3600, usegmt=True),
            "junk": "soon",
            "huge": "99999999999999999999",
        }[form]
        least = {"seconds": 1.0, "date": 0.9}.get(form, 0.0)
        site = Site({"/": after(1, Reply(503, {"Retry-After": text}), page()), "/b": page()})
        times = []

        def fetch(request):
            times.append(time.monotonic())
            return site(request)

        crawl(site.url("/"), fetch=fetch, robots=False, max_retry_after=1.5)

        assert times[1] - times[0] >= least

    def test_no_other_request_reaches_a_host_that_asked_for_a_rest(self, crawl):
        times = []
        site = Site(
            {"/0": Reply(429, {"Retry-After": "1"}), **{f"/{n}": page() for n in range(1, 5)}}
        )

        def fetch(request):
            times.append(time.monotonic())
            return site(request)

        crawl(
            [site.url(f"/{n}") for n in range(5)],
            fetch=fetch,
            robots=False,
            per_host=1,
            retries=Retries(1),
        )

        assert times[1] - times[0] >= 1.0


class TestUnavailable:
    """503 without Retry-After, by a clock that is set by hand."""

    @pytest.fixture
    def site(self, frontier):
        """A frontier in which ten pages of a host wait."""
        crawl = frontier(per_host=1, retries=Retries(9, wait=1.0), backoff=1.0, throttle=30.0)
        for n in range(10):
            crawl.admit(Request(f"http://a.test/{n}"))
        return crawl

    def test_one_url_that_always_answers_503_does_not_hold_its_host(self, site, clock):
        began, statuses = clock.now, []

        while not site.view.idle:
            taken = take(site)
            if taken is None:
                clock.now += site.view.next_wake()
                continue
            is_bad = taken.request.url.endswith("/0")
            statuses.append(503 if is_bad else 200)
            answer(site, taken, statuses[-1])

        assert statuses[:11] == [503] + [200] * 9 + [503], "the others do not wait for its retry"
        assert statuses.count(503) == 9
        assert clock.now - began == sum(2.0**n for n in range(8)), "its own retries, and no rest"

    def test_the_rest_of_the_host_grows_when_different_urls_say_so(self, site, clock):
        waits = []
        for n in range(5):
            taken = take(site)
            assert taken.request.url == f"http://a.test/{n}"
            answer(site, taken, 503)
            rest = site._parts.hosts.find("a.test").ready_at - clock.now
            waits.append(rest)
            # The rest alone: its retry waits longer, so that the next URL is another one.
            clock.now += rest
            site._parts.hosts.find("a.test").retries.clear()
            site._parts.hosts.queued -= 1

        assert waits == [0.0, 30.0, 60.0, 120.0, 240.0]
        assert site.view.hosts()[0].why == ""

    def test_the_first_success_ends_the_rest_and_the_count(self, frontier, clock):
        crawl = frontier(per_host=3, retries=Retries(1))
        for n in range(6):
            crawl.admit(Request(f"http://a.test/{n}"))
        one, two, three = (take(crawl) for _ in range(3))
        answer(crawl, one, 503)
        answer(crawl, two, 503)
        assert take(crawl) is None
        assert crawl.view.next_wake() == 30.0

        answer(crawl, three)

        four = take(crawl)
        answer(crawl, four, 503)
        assert take(crawl) is not None, "it is the first again"

    @pytest.mark.parametrize("status", [429, 503])
    def test_a_retry_after_is_kept_exactly_whatever_else_succeeds(self, frontier, clock, status):
        crawl = frontier(per_host=3, retries=Retries(1))
        for n in range(6):
            crawl.admit(Request(f"http://a.test/{n}"))
        one, two, three = (take(crawl) for _ in range(3))

        answer(crawl, one, status, retry_after="77")
        answer(crawl, two, 503)
        answer(crawl, three)

        assert take(crawl) is None
        assert crawl.view.next_wake() == 77.0

    def test_429_rests_the_host_at_once(self, frontier, clock):
        crawl = frontier(per_host=1, retries=Retries(1))
        for n in range(3):
            crawl.admit(Request(f"http://a.test/{n}"))
        waits = []

        for _ in range(2):
            answer(crawl, take(crawl), 429)
            waits.append(crawl.view.next_wake())
            clock.now += waits[-1]

        assert waits == [30.0, 60.0]

    def test_a_host_whose_every_url_answers_503_is_given_up(self, frontier, clock):
        crawl = frontier(per_host=1, retries=Retries(1), give_up_after=4)
        for n in range(6):
            crawl.admit(Request(f"http://a.test/{n}"))

        for _ in range(4):
            clock.now += crawl.view.next_wake()
            answer(crawl, take(crawl), 503)

        assert [failure.kind for failure in take_failed(crawl)] == ["host", "host"]
        assert crawl.view.counts().done == 4, "503 is an answer"


class TestOrigins:
    def test_failures_are_counted_by_origin(self, frontier, clock):
        crawl = frontier(per_host=1, give_up_after=3, backoff=0.0)
        for n in range(4):
            for origin in ("http://a.test", "https://a.test", "http://a.test:81"):
                crawl.admit(Request(f"{origin}/{n}"))

        while not crawl.view.idle:
            taken = take(crawl)
            if taken.failure is not None:
                crawl.settle(taken, failed(taken.failure.kind))
            elif taken.request.url.startswith("http://a.test/"):
                answer(crawl, taken)
            else:
                fail(crawl, taken)

        counts = crawl.view.counts()
        assert counts.done == 4
        assert counts.failed == {"connect": 6, "host": 2}

    def test_the_failures_of_a_host_are_the_most_of_its_origins(self, frontier, clock):
        crawl = frontier(per_host=5, backoff=0.0)
        host = crawl._parts.queues.host_of("http://a.test/")
        for n in range(3):
            crawl.admit(Request(f"http://a.test/{n}"))
            crawl.admit(Request(f"http://a.test:81/{n}"))
        taken = [take(crawl) for _ in range(6)]
        host = crawl._parts.hosts.find("a.test")

        for one in taken[:3]:
            fail(crawl, one)
        assert (host.failures, len(host.failing)) == (2, 2)
        answer(crawl, next(one for one in taken[3:] if ":81" not in one.request.url))

        assert host.failures == 1
        assert list(host.failing) == ["http://a.test:81"]

    def test_origins_that_fail_are_remembered_up_to_a_number(self, frontier):
        crawl = frontier(per_host=3000, backoff=0.0, probe_after=9)
        for n in range(1, 1101):
            crawl.admit(Request(f"http://a.test:{n}/"))

        for _ in range(1100):
            fail(crawl, crawl.take())

        assert len(crawl._parts.hosts.find("a.test").failing) == 1000


class TestFailingHosts:
    def test_a_dead_host_is_given_up_and_each_of_its_urls_has_an_outcome(self, crawl):
        port = closed_port()
        dead = [f"http://127.0.0.1:{port}/{n}" for n in range(20)]

        summary, errors = crawl(dead, robots=False, give_up_after=4, per_host=1, retries=Retries(1))

        assert summary.urls.failed == {"connect": 4, "host": 16}
        assert Counter(error.kind for error in errors) == summary.urls.failed
        assert f"127.0.0.1:{port} failed 4 times in a row" in errors[-1].reason

    def test_what_is_found_for_it_later_is_turned_away(self, crawl):
        port = closed_port()
        dead = [f"http://127.0.0.1:{port}/{n}" for n in range(3)]
        slow = {"/": Reply(body=page(f"http://127.0.0.1:{port}/late"), delay=2.0)}
        with LoopbackSite(slow, addresses=["127.0.0.2"]) as site:
            summary, _ = crawl(
                [site.url("/"), *dead],
                robots=False,
                give_up_after=2,
                backoff=0.001,
                retries=Retries(1),
            )

        assert summary.urls.turned_away == {"host": 1}

    def test_success_resets_the_count_of_failures(self, crawl):
        trouble = FetchError("timeout", "slow")
        pages = {f"/{n}": after(1, trouble, page()) for n in range(12)}
        site = Site(pages)

        summary, _ = crawl(
            [site.url(path) for path in pages],
            fetch=site,
            robots=False,
            per_host=1,
            give_up_after=13,
            backoff=0.001,
            retries=Retries(2, wait=0.001),
        )

        assert summary.urls.done == 12

    def test_one_dead_and_one_stalled_host_slow_no_other(self):
        good = {f"/{n}": page(f"/{n + 1}", f"/{n + 2}") for n in range(100)}
        with (
            LoopbackSite(
                {"/": faults.silence()}, addresses=[f"127.0.1.{n}" for n in range(1, 21)]
            ) as stalled,
            LoopbackSite(good) as site,
            ExitStack() as stack,
        ):
            port = stalled.url().rpartition(":")[2]
            sick = [f"http://127.0.1.{n}:{port}" for n in range(1, 21)]
            sick += [f"http://name-{n}.invalid/" for n in range(10)]
            sick.append(f"http://127.0.0.1:{closed_port()}/")
            first = [site.url("/0"), *sick]
            patient = stack.enter_context(CurlFetch(limits=Limits(connect=100, total=100)))
            with running(first, fetch=patient, robots=False, workers=64) as (scheduler, _):
                with gevent.Timeout(120):
                    while scheduler.summary().urls.done < 102:
                        gevent.sleep(0.01)
                urls = scheduler.summary().urls

        assert urls.pending >= 20, "the stalled ones are still waiting for their deadline"

    def test_a_crawl_of_resting_hosts_costs_no_cpu_and_says_when_it_wakes(self):
        site = Site({"/": Reply(503, {"Retry-After": "600"})})
        with running(site.url("/"), fetch=site, robots=False) as (scheduler, _):
            while not site.requests:
                gevent.sleep(0.001)
            gevent.sleep(0.05)
            frontier = scheduler._run.frontier

            assert is_idle()
            assert 300 < frontier.view.next_wake() < 600.5
            assert "site.test (503), in " in frontier.view.waiting_for()
            [row] = frontier.view.hosts()
            assert (row.host, row.queued, row.in_flight, row.why) == ("site.test", 1, 0, "503")
