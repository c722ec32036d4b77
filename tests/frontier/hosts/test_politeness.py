"""The limits of each host, and what real servers on loopback addresses see of them."""

from collections import defaultdict

import gevent
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.frontier.hosts.host import Host
from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.frontier.hosts.politeness import Politeness
from crawler.testing import LoopbackSite, Reply

from ..conftest import running
from ..sites import TOLERANCE, after, gaps, page
from .scheduling import begin, filled


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"per_host": 0}, "per_host must be at least 1, not 0"),
        ({"delay": -1}, "delay must be 0 or more seconds, not -1"),
        ({"share": "planet"}, "share must be host, domain or ip, not 'planet'"),
        ({"per_ip": 0}, "per_ip must be at least 1 or None, not 0"),
        ({"backoff": float("nan")}, "backoff must be 0 or more"),
        ({"give_up_after": 2.5}, "give_up_after must be at least 1"),
    ],
)
def test_politeness_says_what_is_wrong_with_it(wrong, complaint):
    with pytest.raises(ValueError, match=complaint):
        Politeness(**wrong)


def test_the_delay_follows_the_latency_but_not_below_the_floor_nor_above_the_cap():
    hosts = HostSchedule(
        Politeness(per_host=1, delay=1.0, latency_factor=2.0, max_adaptive=8.0, jitter=0)
    )
    host = filled(hosts, "a", 3)

    begin(hosts, now=0.0)
    hosts.end(host, now=0.0, latency=0.1)
    assert host.ready_at == 1.0
    host.latency = 3.0
    assert hosts._politeness.pause_of(host) == 6.0
    host.latency = 100.0
    assert hosts._politeness.pause_of(host) == 8.0


def test_jitter_only_ever_adds():
    politeness = Politeness(delay=0.5, latency_factor=1.0, jitter=0.5)

    host = Host("a.test")
    host.latency = 2.0

    pauses = [politeness.pause_of(host) for _ in range(200)]

    assert min(pauses) >= 2.0
    assert max(pauses) <= 3.0
    assert len(set(pauses)) > 100
    host.crawl_delay = 7.0
    assert politeness.pause_of(host) == 7.0


def test_waits_grow_from_failure_to_failure_up_to_a_limit():
    politeness = Politeness(jitter=0.0, max_backoff=100.0)

    waits = [politeness.growing_wait(10.0, times) for times in (1, 2, 3, 4, 5, 500)]

    assert waits == [10.0, 20.0, 40.0, 80.0, 100.0, 100.0]


class TestGaps:
    @settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(delay=st.sampled_from([0.02, 0.05]), crawl_delay=st.sampled_from([None, 0.06]))
    def test_every_host_sees_its_delay_across_robots_retries_redirects_and_refills(
        self, crawl, delay, crawl_delay
    ):
        # One at a time: of two, a busy machine may note the first late and the second at once.
        hosts = [f"127.0.0.{n}" for n in range(1, 5)]
        links = [f"http://{host}:PORT/{n}" for host in hosts for n in range(4)]
        pages = {f"/{n}": page("/late") for n in range(4)}
        pages |= {
            "/1": Reply(302, {"Location": "/moved"}),
            "/moved": page(),
            "/2": after(1, Reply(500), page()),
            "/late": Reply(body=page("/later"), delay=0.03),
            "/later": page(),
        }
        if crawl_delay:
            pages["/robots.txt"] = f"User-agent: *\nCrawl-delay: {crawl_delay}"
        with LoopbackSite(pages, addresses=hosts) as site:
            port = site.url().rpartition(":")[2].strip("/")
            pages_of_all = [link.replace("PORT", port) for link in links]

            summary, errors = crawl(pages_of_all, delay=delay, per_host=1)

        assert not errors
        assert summary.urls.done == 4 * 6
        by_host = defaultdict(list)
        for hit in site.requests:
            by_host[hit.address].append(hit)
        assert len(by_host) == 4
        for hits in by_host.values():
            assert hits[0].path == "/robots.txt"
            assert min(gaps(hits)) >= max(delay, crawl_delay or 0) - TOLERANCE

    def test_a_crawl_delay_means_one_request_at_a_time(self, crawl):
        in_flight, most = 0, 0

        def watched(request):
            nonlocal in_flight, most
            in_flight += 1
            most = max(most, in_flight)
            gevent.sleep(0.02)
            in_flight -= 1
            return page()

        pages = {f"/{n}": watched for n in range(5)}
        pages["/robots.txt"] = "User-agent: *\nCrawl-delay: 0.01"
        with LoopbackSite(pages) as site:
            crawl([site.url(f"/{n}") for n in range(5)], per_host=8)

        assert most == 1

    def test_nothing_is_taken_while_paused_and_the_delay_holds_across_the_pause(self):
        pages = {f"/{n}": page() for n in range(6)}
        with LoopbackSite(pages) as site:
            first = [site.url(f"/{n}") for n in range(6)]
            with running(first, delay=0.03, per_host=1, robots=False) as (scheduler, _):
                while not site.requests:
                    gevent.sleep(0.001)
                scheduler.pause()
                assert scheduler.paused
                while scheduler._run.frontier.view.taken:
                    gevent.sleep(0.001)
                before = len(site.requests)
                gevent.sleep(0.1)
                assert len(site.requests) == before
                scheduler.resume()
                assert scheduler.join(120)

        assert min(gaps(site.requests)) >= 0.03 - TOLERANCE

    def test_hosts_of_one_address_share_its_limit(self, crawl):
        names = ["localhost", "127.0.0.1"]
        pages = {f"/{n}": page() for n in range(4)}
        with LoopbackSite(pages) as site:
            port = site.url().rpartition(":")[2].strip("/")
            first = [f"http://{name}:{port}/{n}" for name in names for n in range(4)]
            crawl(first, robots=False, per_ip=1, ip_delay=0.03, per_host=4)

        assert len(site.requests) == 8
        assert min(gaps(site.requests)) >= 0.03 - TOLERANCE
