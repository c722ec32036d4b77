"""How long hosts rest that ask for it, or fail: real fetches from real servers."""

import time
from email.utils import formatdate

import gevent
import pytest

from crawler.errors import FetchError
from crawler.frontier import Retries
from crawler.testing import LoopbackSite, Reply, Site, faults

from ..conftest import running
from ..sites import after, closed_port, page


class TestThrottling:
    @pytest.mark.parametrize("form", ["seconds", "date", "past", "junk", "huge"])
    def test_retry_after_is_waited_for_in_each_of_its_forms(self, crawl, form):
        text = {
            "seconds": "1",
            "date": formatdate(time.time() + 2, usegmt=True),
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


class TestFailingHosts:
    def test_a_dead_host_is_given_up_and_each_of_its_urls_has_an_outcome(self, crawl):
        port = closed_port()
        dead = [f"http://127.0.0.1:{port}/{n}" for n in range(20)]

        summary, errors = crawl(dead, robots=False, give_up_after=4, per_host=1, retries=Retries(1))

        assert summary.urls.failed == {"connect": 4, "host": 16}
        assert len(errors) == 4

    def test_what_is_found_for_it_later_is_turned_away(self, crawl):
        port = closed_port()
        dead = [f"http://127.0.0.1:{port}/{n}" for n in range(3)]
        slow = {"/": Reply(body=page(f"http://127.0.0.1:{port}/late"), delay=0.5)}
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
        ):
            port = stalled.url().rpartition(":")[2]
            sick = [f"http://127.0.1.{n}:{port}" for n in range(1, 21)]
            sick += [f"http://name-{n}.invalid/" for n in range(10)]
            sick.append(f"http://127.0.0.1:{closed_port()}/")
            with running([site.url("/0"), *sick], robots=False, workers=64) as (scheduler, _):
                with gevent.Timeout(30):
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
            before = time.process_time()
            gevent.sleep(0.5)
            spent = time.process_time() - before

            assert spent < 0.05
            assert 590 < frontier.view.next_wake() < 600.5
            assert "site.test (503), in " in frontier.view.waiting_for()
            [row] = frontier.view.hosts()
            assert (row.host, row.queued, row.in_flight, row.why) == ("site.test", 1, 0, "503")
