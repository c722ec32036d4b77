"""
Defects that other crawlers have had, one test each; the comment says which and where.

What the tests of hosts/ prove already is not repeated here.
"""

import inspect
import time
from collections import Counter
from functools import partial
from urllib.parse import urlsplit

import gevent
import pytest

from crawler import Analyzer, DataArgs, Downloader, ModuleArgs, Pipeline, RequestArgs, Scheduler
from crawler.data import Link, Request, Response
from crawler.frontier import (
    Budget,
    Frontier,
    Politeness,
    Retries,
    Scope,
    failed,
    refused,
)
from crawler.frontier.hosts.host import Address
from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.testing import LoopbackSite, Reply, Site

from .conftest import running
from .hosts.scheduling import begin, drain, filled, request, unpark
from .sites import TOLERANCE, after, gaps, page
from .steps import DOMAINS, answer, balances, fail, figures, take


@pytest.fixture(autouse=True)
def deadline():
    """A deadlock is a red test, not a hung run."""
    with gevent.Timeout(120):
        yield


class TestDelays:
    # NUTCH-474, NUTCH-495
    def test_no_one_waits_without_need(self, frontier, clock):
        crawl = frontier(delay=5.0, per_host=1)
        crawl.admit(Request("http://a.test/1"))
        crawl.admit(Request("http://b.test/1"))

        answer(crawl, take(crawl))
        answer(crawl, take(crawl))
        clock.now += 60
        crawl.admit(Request("http://a.test/2"))

        assert take(crawl).request.url == "http://a.test/2", "it has rested long enough"

    # NUTCH-2947; StormCrawler reaps an empty queue at once
    def test_a_day_of_rest_is_remembered_though_nothing_waits_for_the_host(self, frontier, clock):
        crawl = frontier()
        crawl.admit(Request("http://a.test/1"))
        answer(crawl, take(crawl), 503, retry_after="86400")

        for hour in range(23):
            clock.now += 3600
            crawl.admit(Request(f"http://b.test/{hour}"))
            answer(crawl, take(crawl))
        crawl.admit(Request("http://a.test/2"))

        assert take(crawl) is None
        assert 3000 < crawl.view.next_wake() <= 3600

    # NUTCH-2947: what is reaped with the queue is more than the next fetch time
    def test_a_host_that_failed_is_not_forgiven_because_its_queue_is_empty(self, frontier, clock):
        crawl = frontier(give_up_after=3)

        for n in range(3):
            assert crawl.admit(Request(f"http://a.test/{n}")) is None
            fail(crawl, take(crawl))
            clock.now += 60

        assert crawl.admit(Request("http://a.test/more")) == "host"

    def test_but_it_is_in_time(self, frontier, clock):
        crawl = frontier(give_up_after=3)

        for n in range(6):
            crawl.admit(Request(f"http://a.test/{n}"))
            fail(crawl, take(crawl))
            clock.now += 3600
            take(crawl)

        assert crawl.admit(Request("http://a.test/more")) is None

    def test_a_delay_that_was_set_is_remembered_though_nothing_waits(self, frontier, clock):
        crawl = frontier(per_host=1)
        crawl.set_delay("a.test", 10.0)
        for n in range(3):
            clock.now += 60
            crawl.admit(Request(f"http://a.test/{n}"))
            answer(crawl, take(crawl))
            assert take(crawl) is None

        crawl.admit(Request("http://a.test/again"))

        assert take(crawl) is None
        assert crawl.view.next_wake() == 10.0

    def test_a_crawl_delay_is_kept_by_a_host_that_was_forgotten(self, frontier, clock):
        crawl = frontier(robots=True)
        crawl.admit(Request("http://a.test/1"))
        answer(crawl, take(crawl), body=b"User-agent: *\nCrawl-delay: 20")
        clock.now += 20
        answer(crawl, take(crawl))
        clock.now += 3600
        assert take(crawl) is None
        assert not crawl.view.hosts()

        for n in (2, 3):
            crawl.admit(Request(f"http://a.test/{n}"))
        assert take(crawl).request.url == "http://a.test/2"

        assert take(crawl) is None

    # NUTCH-2623
    def test_http_and_https_of_a_host_share_its_delay_and_its_places(self, frontier, clock):
        crawl = frontier(delay=5.0, per_host=1)
        for url in ("http://a.test/", "https://a.test/", "http://a.test:8080/"):
            crawl.admit(Request(url))

        for _ in range(3):
            one = take(crawl)
            assert take(crawl) is None
            answer(crawl, one)
            clock.now += 4.9
            assert take(crawl) is None
            clock.now += 0.1

        assert crawl.view.idle

    # NUTCH-2775; StormCrawler's fetcher.server.delay.force
    @pytest.mark.parametrize("asked", ["0", "0.001"])
    def test_robots_txt_may_slow_the_crawl_down_and_never_speed_it_up(self, crawl, asked):
        pages = {f"/{n}": page() for n in range(4)}
        pages["/robots.txt"] = f"User-agent: *\nCrawl-delay: {asked}"
        with LoopbackSite(pages) as site:
            crawl([site.url(f"/{n}") for n in range(4)], delay=0.05)

        assert len(site.requests) == 5
        assert min(gaps(site.requests)) >= 0.05 - TOLERANCE

    def test_nor_may_set_delay_go_below_what_the_host_asks_for(self, frontier, clock):
        crawl = frontier(robots=True)
        crawl.set_delay("a.test", 1.0)
        for n in range(2):
            crawl.admit(Request(f"http://a.test/{n}"))
        answer(crawl, take(crawl), body=b"User-agent: *\nCrawl-delay: 20")
        clock.now += 20

        answer(crawl, take(crawl))

        assert take(crawl) is None
        assert crawl.view.next_wake() == 20.0

    # NUTCH-2946, NUTCH-3120
    @pytest.mark.parametrize("trouble", [429, "timeout", "connect"])
    def test_a_host_in_trouble_is_left_alone_for_longer_each_time(self, frontier, clock, trouble):
        crawl = frontier(per_host=1, retries=Retries(9, wait=0.0), backoff=30.0)
        crawl.admit(Request("http://a.test/"))
        waits = []

        for _ in range(4):
            taken = take(crawl)
            fail(crawl, taken, trouble) if isinstance(trouble, str) else answer(
                crawl, taken, trouble
            )
            waits.append(crawl.view.next_wake())
            clock.now += waits[-1]

        assert waits == [30.0, 60.0, 120.0, 240.0]

    # StormCrawler leaves 403 out on purpose: it is about the page
    @pytest.mark.parametrize("status", [403, 404, 500])
    def test_an_answer_about_one_page_is_no_trouble_of_its_host(self, frontier, status):
        crawl = frontier(per_host=1, give_up_after=2)
        for n in range(5):
            crawl.admit(Request(f"http://a.test/{n}"))

        for _ in range(5):
            answer(crawl, take(crawl), status)

        assert crawl.view.counts().done == 5

    # URLFrontier: whatever became of what was sent, the delay holds
    def test_the_delay_holds_after_a_request_that_was_put_back(self, frontier, clock):
        crawl = frontier(delay=5.0, per_host=1)
        crawl.admit(Request("http://a.test/"))

        crawl.put_back(take(crawl))

        assert take(crawl) is None
        clock.now += 5.0
        assert take(crawl).request.url == "http://a.test/"

    # Nutch reads currentTimeMillis
    def test_no_step_of_the_wall_clock_changes_a_delay(self):
        assert inspect.signature(Frontier).parameters["clock"].default is time.monotonic


class TestFailingHosts:
    # Nutch counts failures for the life of a queue
    def test_failures_among_successes_do_not_add_up(self, frontier, clock):
        crawl = frontier(per_host=1, give_up_after=2, backoff=0.0)
        for n in range(200):
            crawl.admit(Request(f"http://a.test/{n}"))

        for n in range(200):
            taken = take(crawl)
            fail(crawl, taken) if n % 2 else answer(crawl, taken)

        assert crawl.view.counts().done == 100
        assert crawl.view.counts().failed == {"connect": 100}

    # Heritrix tries the head of a queue 30 times, 15 minutes apart, before the next
    @pytest.mark.parametrize(
        "trouble", [partial(answer, status=500), partial(fail, kind="truncated")]
    )
    def test_one_bad_page_does_not_hold_its_host(self, frontier, clock, trouble):
        crawl, order = frontier(per_host=1, retries=Retries(3, wait=5.0)), []
        for name in ("bad", *range(10)):
            crawl.admit(Request(f"http://a.test/{name}"))

        while not crawl.view.idle:
            taken = take(crawl)
            if taken is None:
                clock.now += crawl.view.next_wake()
                continue
            order.append(urlsplit(taken.request.url).path)
            (trouble if order[-1] == "/bad" else answer)(crawl, taken)

        assert order.index("/9") < order.index("/bad", 1), "the others do not wait for its retry"
        assert order.count("/bad") == 3

    # NUTCH-719
    @pytest.mark.parametrize("errors", [None, 3])
    def test_the_count_of_what_waits_does_not_drift(self, frontier, clock, errors):
        crawl = frontier(
            per_host=1,
            give_up_after=2,
            retries=Retries(2, wait=5.0),
            budget=Budget(errors=errors),
        )
        for n in range(20):
            crawl.admit(Request(f"http://a.test/{n}"))
            crawl.admit(Link(f"http://b.test/{n}", 1, None))

        while not crawl.view.idle:
            taken = take(crawl)
            if taken is None:
                clock.now += crawl.view.next_wake() or 0.0
            elif taken.failure is not None:
                crawl.settle(taken, failed(taken.failure.kind))
            elif "a.test" in taken.request.url:
                fail(crawl, taken)
            else:
                hops = len(taken.request.redirects)
                answer(crawl, taken, 302 if hops < 2 else 200, location=f"?{hops}")
            assert len(crawl.view) >= 0
            assert balances(crawl)

        assert len(crawl.view) == 0
        assert repr(crawl) == "<Frontier open, 0 waiting, 0 taken>"
        assert not any(row.queued or row.in_flight for row in crawl.view.hosts())

    # NUTCH-3114: hosts that rest for hours keep a crawl from ending
    def test_a_crawl_of_resting_hosts_ends_when_its_time_is_up(self, crawl):
        site = Site({"/": Reply(503, {"Retry-After": "6000"})})

        summary, _ = crawl(
            [site.url("/"), site.url("/2")],
            fetch=site,
            robots=False,
            per_host=1,
            budget=Budget(seconds=0.3),
        )

        assert summary.urls.refused == {"time_limit": 2}


class TestRobots:
    # Nutch leaves the request of a deferred host counted as in flight
    def test_a_deferred_host_has_nothing_in_flight_and_all_its_urls(self, frontier, clock):
        crawl = frontier(robots=True, per_host=1)
        for n in range(3):
            crawl.admit(Request(f"http://a.test/{n}"))

        for _ in range(4):
            answer(crawl, take(crawl), 503)
            assert take(crawl) is None, "a host that is deferred is left alone"
            row = figures(crawl, "a.test")
            assert (row.in_flight, row.queued, row.why) == (0, 3, "robots.txt")
            clock.now += crawl.view.next_wake()
        answer(crawl, take(crawl), 404)
        for _ in range(3):
            answer(crawl, take(crawl))

        assert crawl.view.counts().done == 3

    # Nutch lets several threads ask for one robots.txt
    def test_it_is_asked_for_once_however_many_requests_wait(self, crawl):
        pages = {f"/{n}": page() for n in range(20)}
        pages["/robots.txt"] = Reply(body="User-agent: *\nDisallow: /3", delay=0.1)
        site = Site(pages)

        summary, _ = crawl([site.url(f"/{n}") for n in range(20)], fetch=site, per_host=10)

        assert [urlsplit(r.url).path for r in site.requests].count("/robots.txt") == 1
        assert summary.urls.refused == {"robots": 1}

    def test_a_host_that_waits_for_it_holds_up_no_other(self, frontier):
        crawl = frontier(robots=True)
        crawl.admit(Request("http://a.test/"))
        crawl.admit(Request("http://b.test/"))
        asked = [take(crawl) for _ in range(2)]
        assert take(crawl) is None

        answer(crawl, asked[1], 404)

        assert take(crawl).request.url == "http://b.test/"

    # NUTCH-1182, NUTCH-2014: the last ones are turned down, and nobody notices
    def test_a_crawl_whose_last_urls_are_all_disallowed_ends(self, crawl):
        site = Site(
            {
                "/robots.txt": "User-agent: *\nDisallow: /no",
                "/": page(*(f"/no/{n}" for n in range(50))),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 50}

    def test_disallowed_and_then_found_nearer_it_still_has_one_outcome(self, clock):
        crawl = Frontier(
            Scope(DOMAINS, max_depth=5),
            politeness=Politeness.off(robots=True),
            clock=clock,
        )
        crawl.admit(Request("http://a.test/no", depth=3))
        answer(crawl, take(crawl), body=b"User-agent: *\nDisallow: /no")
        assert take(crawl) is None

        assert crawl.admit(Request("http://a.test/no", depth=1)) == "seen"

        assert take(crawl) is None
        assert balances(crawl)
        assert crawl.view.counts().refused == {"robots": 1}


class TestRedirects:
    # Nutch follows a redirect at once, past the limits of the host it leads to
    def test_a_hop_keeps_the_distance_and_the_places_of_the_host_it_leads_to(self, crawl):
        in_flight = most = 0

        def watched(request):
            nonlocal in_flight, most
            in_flight += 1
            most = max(most, in_flight)
            gevent.sleep(0.01)
            in_flight -= 1
            return page()

        target = {f"/{n}": watched for n in range(9)}
        with LoopbackSite(target, addresses=["127.0.0.2"]) as site:
            pages = {f"/{n}": Reply(302, {"Location": site.url(f"/{n + 1}")}) for n in range(8)}
            with LoopbackSite(pages) as first:
                summary, _ = crawl(
                    [site.url("/0"), *(first.url(f"/{n}") for n in range(8))],
                    robots=False,
                    per_host=1,
                    delay=0.03,
                )

        assert summary.urls.done == 9
        assert most == 1
        assert min(gaps(site.requests)) >= 0.03 - TOLERANCE

    # NUTCH-2776
    def test_of_many_pages_that_lead_to_one_login_the_login_is_fetched_once(self, crawl):
        pages = {f"/{n}": Reply(302, {"Location": f"/login#{n}"}) for n in range(20)}
        site = Site(pages | {"/login": page()})

        summary, _ = crawl([site.url(path) for path in pages], fetch=site, robots=False)

        asked = Counter(urlsplit(r.url).path for r in site.requests)
        assert asked["/login"] == 1
        assert summary.urls.done == 1
        assert summary.urls.refused == {"seen": 19}

    # NUTCH-1939, NUTCH-2124, NUTCH-2550: a chain through other hosts and schemes
    def test_a_chain_through_several_hosts_is_followed_to_its_end(self, crawl):
        site = Site(
            {
                "http://a.test/": Reply(301, {"Location": "https://a.test/"}),
                "https://a.test/": Reply(302, {"Location": "//b.test/x"}),
                "https://b.test/x": Reply(307, {"Location": "http://a.test/end"}),
                "http://a.test/end": page(),
            }
        )

        summary, _ = crawl("http://a.test/", fetch=site, domains=["b.test"], robots=False)

        assert summary.urls.done == 1
        assert len(site.requests) == 4

    def test_each_hop_meets_the_robots_txt_of_where_it_leads(self, crawl):
        site = Site(
            {
                "http://a.test/": Reply(301, {"Location": "http://b.test/no"}),
                "http://b.test/robots.txt": "User-agent: *\nDisallow: /no",
                "http://b.test/no": page(),
            }
        )

        summary, _ = crawl("http://a.test/", fetch=site, domains=["b.test"])

        assert summary.urls.refused == {"robots": 1}
        assert "http://b.test/no" not in [r.url for r in site.requests]


class TestAccounting:
    # Nutch can finish one fetch twice, and then lets one more through for ever
    def test_a_fetch_ends_once(self, frontier):
        crawl = frontier(per_host=1)
        for n in range(3):
            crawl.admit(Request(f"http://a.test/{n}"))
        taken = take(crawl)
        answer(crawl, taken)

        for _ in range(3):
            with pytest.raises(ValueError, match="not taken"):
                crawl.fetched(taken, Response(taken.request.url, 200))

        assert figures(crawl, "a.test").in_flight == 0
        assert take(crawl) is not None
        assert take(crawl) is None, "one at a time, as before"

    def test_a_fetch_that_is_settled_without_an_answer_ends_too(self, frontier):
        crawl = frontier(per_host=1)
        for n in range(2):
            crawl.admit(Request(f"http://a.test/{n}"))

        crawl.settle(take(crawl), failed("killed"))

        assert figures(crawl, "a.test").in_flight == 0
        assert take(crawl) is not None

    def test_parsers_that_raise_leave_the_places_of_a_host_right(self):
        site = Site({f"/{n}": Reply(body="x", delay=0.005) for n in range(20)})
        in_flight = most = 0

        def fetch(asked):
            nonlocal in_flight, most
            in_flight += 1
            most = max(most, in_flight)
            try:
                return site(asked)
            finally:
                in_flight -= 1

        def broken(response):
            raise RuntimeError(response.url)

        with Scheduler() as scheduler:
            scheduler.init(
                RequestArgs(politeness=Politeness.off(per_host=2)),
                DataArgs(),
                ModuleArgs([Downloader(fetch)], [Analyzer(broken)], [Pipeline()]),
            )
            scheduler.start([site.url(f"/{n}") for n in range(20)])
            assert scheduler.join(120)
            summary = scheduler.stop()

        assert summary.urls.failed == {"parse": 20}
        assert most == 2

    # NUTCH-2445
    def test_a_page_that_every_page_links_to_is_fetched_once(self, crawl):
        names = [f"/{n}" for n in range(15)]
        site = Site({name: page(*names, *(f"{name}#part" for name in names)) for name in names})

        summary, _ = crawl(site.url("/0"), fetch=site, robots=False)

        assert sorted(urlsplit(r.url).path for r in site.requests) == sorted(names)
        assert summary.urls.done == 15

    # NUTCH-2553: one object was used for all URLs, and the last one won
    def test_what_is_done_to_a_request_after_it_was_admitted_does_not_reach_it(self, frontier):
        crawl = frontier(per_host=3)
        template, meta, headers = Request("http://a.test/0"), {"n": 0}, {"X": "0"}

        for n in range(3):
            meta["n"], headers["X"] = n, str(n)
            asked = template.replace(url=f"http://a.test/{n}", meta=meta, headers=headers)
            assert crawl.admit(asked) is None
        meta["n"] = 99

        taken = [take(crawl) for _ in range(3)]
        assert [t.request.url[-1] for t in taken] == ["0", "1", "2"]
        assert [t.request.meta["n"] for t in taken] == [0, 1, 2]
        assert [t.request.headers["x"] for t in taken] == ["0", "1", "2"]
        for each in taken:
            answer(crawl, each)
        assert crawl.view.counts().done == 3

    # NUTCH-3177, and Heritrix "running" with nothing left to run
    def test_it_says_what_it_waits_for(self, frontier, clock):
        crawl = frontier(per_host=1, robots=True)
        assert crawl.view.waiting_for() == "nothing: all is settled"
        crawl.admit(Request("http://a.test/"))
        asked = take(crawl)
        assert crawl.view.waiting_for() == "a.test (robots.txt)"
        answer(crawl, asked, 404)
        taken = take(crawl)
        assert crawl.view.waiting_for() == "1 request in flight or being analysed"
        assert crawl.view.next_wake() is None
        answer(crawl, taken, 503, retry_after="100")
        crawl.admit(Request("http://a.test/2"))
        assert crawl.view.waiting_for() == "a.test (503), in 100.0 s"
        assert crawl.view.next_wake() == 100.0
        crawl.pause("a.test")
        assert crawl.view.waiting_for() == "a.test (paused)"
        crawl.resume("a.test")
        crawl.pause()
        assert "paused" in crawl.view.waiting_for()

    def test_a_host_with_nothing_to_do_is_nothing_to_wake_for(self, frontier):
        crawl = frontier(delay=5.0)
        crawl.admit(Request("http://a.test/"))
        taken = take(crawl)
        assert crawl.view.next_wake() is None

        answer(crawl, taken)

        assert crawl.view.next_wake() is None


class TestLimits:
    # Nutch drops what is buffered, and the feeder goes on feeding
    @pytest.mark.parametrize("reason", ["slow", "time_limit"])
    def test_after_a_limit_nothing_more_is_let_in_or_taken(self, frontier, reason):
        crawl = frontier()
        crawl.admit(Request("http://a.test/1"))
        taken = take(crawl)
        crawl.admit(Request("http://a.test/2"))

        crawl.cut_off(reason)

        assert crawl.admit(Request("http://a.test/3")) == reason
        assert answer(crawl, taken, 302, location="/4") == refused(reason)
        assert take(crawl) is None
        assert crawl.view.idle
        assert crawl.view.counts().refused == {reason: 2}

    def test_what_was_in_flight_when_the_limit_came_is_not_tried_again(self, frontier):
        crawl = frontier(retries=Retries(5, wait=0.0))
        crawl.admit(Request("http://a.test/"))
        taken = take(crawl)

        crawl.cut_off("byte_limit")

        assert fail(crawl, taken, "truncated") == failed("truncated")
        assert crawl.view.idle

    # Nutch's strikes are never taken back
    def test_a_crawl_that_is_fast_enough_each_time_is_not_cut_off(self, crawl):
        pages = {f"/{n}": page() for n in range(20)}

        summary, _ = crawl(
            [f"http://site.test/{n}" for n in range(20)],
            fetch=Site(pages),
            robots=False,
            per_host=1,
            delay=0.15,
            budget=Budget(min_rate=1.0, patience=1.5),
        )

        assert summary.urls.done == 20
        assert not summary.urls.refused

    # Nutch's bandwidth control; here it put the crawl to sleep with hosts still due
    def test_bandwidth_is_shared_by_hosts_and_none_is_forgotten(self, crawl):
        hosts = [f"http://host-{n}.site.test" for n in range(10)]
        site = Site({f"{host}/": "x" * 1000 for host in hosts})
        began = time.monotonic()

        summary, _ = crawl(
            [f"{host}/" for host in hosts],
            fetch=site,
            robots=False,
            workers=1,
            budget=Budget(bandwidth=50_000),
        )

        assert summary.urls.done == 10
        assert time.monotonic() - began >= 0.15

    # NUTCH-3072
    def test_nothing_is_fetched_after_a_stop(self):
        site = Site({"/": lambda r: page(*(f"/?{time.monotonic()}-{n}" for n in range(5)))})
        with running(site.url("/"), fetch=site, robots=False, delay=0.001) as (scheduler, _):
            while len(site.requests) < 10:
                gevent.sleep(0.001)
            scheduler.stop(timeout=1)
            before = len(site.requests)

            gevent.sleep(0.2)

            assert len(site.requests) == before


class TestAddresses:
    # Nutch loses a URL whose host has no address
    def test_a_name_without_an_address_has_its_outcome(self, crawl):
        summary, [error] = crawl(
            "http://nowhere.invalid/", per_ip=1, robots=False, retries=Retries(1)
        )

        assert summary.urls.failed == {"dns": 1}
        assert error.kind == "dns"

    # Nutch lets the Crawl-delay of one host count for all of its address
    def test_the_crawl_delay_of_a_host_is_not_that_of_its_neighbour(self):
        hosts = HostSchedule(Politeness.off(per_ip=1))
        one, other = (filled(hosts, name, 2) for name in "ab")
        one.address = other.address = Address()
        one.crawl_delay = 1000.0

        names = []
        for now in range(4):
            if got := begin(hosts, float(now)):
                names.append(got[0].name)
                hosts.end(got[0], float(now))

        assert names == ["a", "b", "b"]

    @pytest.mark.parametrize("ill", ["emptied", "paused", "resting", "with nothing after all"])
    def test_a_host_that_cannot_use_its_address_leaves_it_to_the_next(self, ill):
        hosts = HostSchedule(Politeness.off(per_ip=1))
        address = Address()
        busy, sick, next_one = (hosts.table.find_or_add(name) for name in ("busy", "sick", "next"))
        for host in (busy, sick, next_one):
            host.address = address
            hosts.put(host, request(host.name), now=0.0)
        assert begin(hosts, 0.0)[0] is busy
        assert hosts.ready(0.0) is None, "the others wait for the address"

        if ill == "emptied":
            drain(hosts, sick, 0.0)
        elif ill == "paused":
            hosts.pause(sick, 0.0, paused=True)
        elif ill == "resting":
            hosts.rest(sick, 0.0, 3600.0, "503")
        hosts.end(busy, 1.0)
        if ill == "with nothing after all":
            assert hosts.ready(1.0) is sick
            hosts.pull(sick)
            hosts.schedule(sick, 1.0)

        assert begin(hosts, 1.0)[0] is next_one


# BUbiNG keeps a workbench that thousands of threads poll; here only what is due wakes anyone
def test_one_who_waits_is_woken_by_what_is_due_earlier():
    crawl = Frontier(
        Scope(DOMAINS),
        politeness=Politeness.off(per_host=1, delay=30.0),
        retries=Retries(1),
    )
    crawl.admit(Request("http://a.test/1"))
    crawl.admit(Request("http://a.test/2"))
    answer(crawl, take(crawl))
    waiter = gevent.spawn(crawl.take)
    gevent.idle()
    assert not waiter.ready()

    crawl.admit(Request("http://b.test/"))

    assert waiter.get(timeout=120).request.url == "http://b.test/"


# Nutch's feeder counts URLs, not hosts: a few slow hosts fill it
def test_a_slow_host_with_a_thousand_urls_first_does_not_keep_others_out(frontier):
    crawl = frontier(delay=3600.0, per_host=1)
    for n in range(1000):
        crawl.admit(Request(f"http://a.test/{n}"))
    crawl.admit(Request("http://b.test/"))

    assert [take(crawl).request.url for _ in range(2)] == ["http://a.test/0", "http://b.test/"]


# Scrapy, Nutch: retries go through admission, and are dropped there as seen
def test_a_retry_is_not_turned_away_as_seen(crawl):
    site = Site({"/": after(2, Reply(500), page())})

    summary, _ = crawl(site.url("/"), fetch=site, robots=False)

    assert summary.urls.done == 1
    assert not summary.urls.turned_away


class TestEdges:
    def test_a_host_that_waits_for_its_address_is_woken_when_that_is_free(self):
        crawl = Frontier(Scope(DOMAINS), politeness=Politeness.off(per_ip=1), retries=Retries(1))
        address = Address()
        for name in DOMAINS[:2]:
            crawl._parts.hosts.table.find_or_add(name).address = address
        crawl.admit(Request("http://a.test/"))
        crawl.admit(Request("http://b.test/"))
        crawl.admit(Request("http://c.test/1"))
        unpark(crawl._parts.hosts, crawl._parts.hosts.find("c.test"), crawl._parts.clock())
        crawl.set_delay("c.test", 20.0)
        by_name = {urlsplit(t.request.url).hostname: t for t in (take(crawl), take(crawl))}
        assert sorted(by_name) == ["a.test", "c.test"]
        crawl.admit(Request("http://c.test/2"))
        waiter = gevent.spawn(crawl.take)
        gevent.sleep(0.01)
        assert not waiter.ready()

        answer(crawl, by_name["a.test"], 503, retry_after="600")

        assert waiter.get(timeout=120).request.url == "http://b.test/"

    def test_a_crawl_that_is_paused_is_not_slow(self):
        site = Site({f"/{n}": page() for n in range(20)})
        with running(
            [site.url(f"/{n}") for n in range(20)],
            fetch=site,
            robots=False,
            per_host=1,
            delay=0.02,
            budget=Budget(min_rate=1.0, patience=1.0),
        ) as (scheduler, _):
            scheduler.pause()
            gevent.sleep(2.1)
            scheduler.resume()
            assert scheduler.join(120)
            summary = scheduler.stop()

        assert summary.urls.done == 20

    def test_the_first_limit_is_the_reason(self, frontier):
        crawl = frontier(budget=Budget(errors=1), per_host=9)
        for n in range(2):
            crawl.admit(Request(f"http://a.test/{n}"))
        taken = take(crawl)
        crawl.cut_off("time_limit")
        fail(crawl, taken)
        assert crawl.admit(Request("http://a.test/x")) == "time_limit"

    def test_a_request_put_back_counts_as_one_page(self, frontier):
        crawl = frontier(budget=Budget(pages=2), per_host=9)
        for n in range(2):
            crawl.admit(Request(f"http://a.test/{n}"))
        crawl.put_back(take(crawl))
        answer(crawl, take(crawl))
        answer(crawl, take(crawl))
        assert crawl.view.counts().done == 2

    def test_a_host_is_paused_by_any_of_its_names(self):
        crawl = Frontier(Scope(DOMAINS), politeness=Politeness.off(share="domain"))
        crawl.admit(Request("http://www.a.test/"))
        crawl.pause("www.a.test")
        assert take(crawl) is None

    def test_nothing_is_taken_of_what_is_put_back_after_a_limit(self, frontier):
        crawl = frontier(per_host=9)
        crawl.admit(Request("http://a.test/"))
        taken = take(crawl)
        crawl.cut_off("slow")
        crawl.put_back(taken)
        assert take(crawl) is None
        assert crawl.view.idle
