"""What hosts see of a crawl: real fetches from real servers on loopback addresses."""

import itertools
import socket
import time
from collections import defaultdict
from email.utils import formatdate

import gevent
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.errors import FetchError
from crawler.frontier import Budget, Retries
from crawler.testing import LoopbackSite, Reply, Site, faults

from ..conftest import running

#: What a measured gap may fall short of the delay: clocks of two sockets are not one clock.
TOLERANCE = 0.004


def page(*hrefs):
    return "".join(f'<a href="{href}">x</a>' for href in hrefs)


def after(times, first, then):
    """A page that answers *first* for the first *times* requests."""
    counter = itertools.count()
    return lambda request: first if next(counter) < times else then


def paths(site):
    return [hit.path for hit in site.requests]


def gaps(hits):
    at = sorted(hit.at for hit in hits)
    return [later - earlier for earlier, later in itertools.pairwise(at)]


def closed_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class TestGaps:
    @settings(
        max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
    )
    @given(
        delay=st.sampled_from([0.02, 0.05]),
        per_host=st.integers(1, 2),
        crawl_delay=st.sampled_from([None, 0.06]),
    )
    def test_every_host_sees_its_delay_across_robots_retries_redirects_and_refills(
        self, crawl, delay, per_host, crawl_delay
    ):
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

            summary, errors = crawl(pages_of_all, delay=delay, per_host=per_host)

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
                gevent.sleep(0.05)
                before = len(site.requests)
                gevent.sleep(0.1)
                assert len(site.requests) == before
                scheduler.resume()
                assert scheduler.join(10)

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


class TestRobots:
    def test_robots_txt_is_the_first_fetch_and_is_asked_for_once(self, crawl):
        site = Site({"/": page("/a", "/b"), "/a": page("/b"), "/b": page()})

        crawl(site.url("/"), fetch=site)

        assert [r.url.removeprefix(site.base) for r in site.requests][:2] == ["/robots.txt", "/"]
        assert [r.url for r in site.requests].count(site.url("/robots.txt")) == 1

    def test_what_it_disallows_is_refused_and_counted(self, crawl):
        site = Site(
            {
                "/robots.txt": "User-agent: *\nDisallow: /private",
                "/": page("/private/1", "/private/2", "/open"),
                "/open": page(),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 2}
        assert summary.urls.done == 2

    def test_our_product_token_has_a_group_of_its_own(self, crawl):
        site = Site(
            {
                "/robots.txt": "User-agent: *\nAllow: /\n\nUser-agent: Crawler/9\nDisallow: /",
                "/": page(),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 1}

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
    def test_a_file_that_is_not_there_allows_everything(self, crawl, status):
        site = Site({"/robots.txt": Reply(status), "/": page()})

        assert crawl(site.url("/"), fetch=site)[0].urls.done == 1

    @pytest.mark.parametrize(
        "trouble", [Reply(503), Reply(500), Reply(429), FetchError("connect", "no")]
    )
    def test_a_host_that_cannot_say_is_deferred_and_resumed(self, crawl, trouble):
        def flaky(request):
            answer = answers(request)
            if isinstance(answer, Exception):
                raise answer
            return answer

        answers = after(2, trouble, Reply(body="User-agent: *\nDisallow: /no"))
        site = Site({"/robots.txt": flaky, "/": page("/no", "/yes"), "/yes": page()})

        summary, errors = crawl(site.url("/"), fetch=site)

        assert [r.url.removeprefix(site.base) for r in site.requests][:4] == ["/robots.txt"] * 3 + [
            "/"
        ]
        assert summary.urls.done == 2
        assert summary.urls.refused == {"robots": 1}
        assert not errors

    def test_a_host_that_never_says_is_given_up_with_a_record_for_each_url(self, crawl):
        site = Site({"/robots.txt": Reply(500), "/": page()})

        summary, _ = crawl([site.url(f"/{n}") for n in range(5)], fetch=site, give_up_after=3)

        assert summary.urls.failed == {"host": 5}
        assert len(site.requests) == 3

    def test_redirects_of_robots_txt_are_followed_across_hosts(self, crawl):
        site = Site(
            {
                "/robots.txt": Reply(301, {"Location": "http://other.test/robots.txt"}),
                "http://other.test/robots.txt": Reply(301, {"Location": "/rules"}),
                "http://other.test/rules": "User-agent: *\nDisallow: /no",
                "/": page("/no"),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 1}

    def test_a_redirect_to_https_on_the_same_host_does_not_lock_the_host(self, crawl):
        site = Site(
            {
                "/robots.txt": Reply(301, {"Location": "https://site.test/robots.txt"}),
                "https://site.test/robots.txt": "User-agent: *\nDisallow: /no",
                "/": page("/no"),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 1}

    def test_two_hosts_whose_robots_point_at_each_other_do_not_lock_each_other(self, crawl):
        site = Site(
            {
                "http://a.test/robots.txt": Reply(302, {"Location": "http://b.test/robots.txt"}),
                "http://b.test/robots.txt": Reply(302, {"Location": "http://a.test/robots.txt"}),
                "http://a.test/": page(),
                "http://b.test/": page(),
            }
        )

        summary, _ = crawl(["http://a.test/", "http://b.test/"], fetch=site)

        assert summary.urls.done == 2, "more than five hops is a file that is not there"

    def test_two_origins_of_one_host_have_rules_of_their_own(self, crawl):
        site = Site(
            {
                "http://site.test/robots.txt": "User-agent: *\nDisallow: /a",
                "http://site.test:81/robots.txt": "User-agent: *\nDisallow: /b",
                "http://site.test/a": page(),
                "http://site.test/b": page(),
                "http://site.test:81/a": page(),
                "http://site.test:81/b": page(),
            }
        )

        summary, _ = crawl([u for u in site.pages if not u.endswith("txt")], fetch=site)

        assert {r.url for r in site.requests if r.url[-1] in "ab"} == {
            "http://site.test/b",
            "http://site.test:81/a",
        }
        assert summary.urls.refused == {"robots": 2}

    def test_robots_txt_is_not_asked_for_when_that_is_off(self, crawl):
        site = Site({"/": page()})

        crawl(site.url("/"), fetch=site, robots=False)

        assert [r.url for r in site.requests] == [site.url("/")]


class TestRetries:
    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
    def test_a_passing_trouble_is_tried_again(self, crawl, status):
        site = Site({"/": after(2, Reply(status), page())})

        summary, errors = crawl(site.url("/"), fetch=site, robots=False)

        assert len(site.requests) == 3
        assert summary.urls.done == 1
        assert not errors

    @pytest.mark.parametrize("status", [400, 403, 404, 410, 501])
    def test_a_lasting_answer_is_not(self, crawl, status):
        site = Site({"/": Reply(status)})

        crawl(site.url("/"), fetch=site, robots=False)

        assert len(site.requests) == 1

    def test_a_final_failure_keeps_how_every_attempt_ended(self, crawl):
        site = Site({"/": after(1, Reply(500), FetchError("truncated", "half of it"))})

        def fetch(request):
            return site(request)

        summary, [error] = crawl(site.url("/"), fetch=fetch, robots=False)

        assert summary.urls.failed == {"truncated": 1}
        assert error.request.attempts == ("status 500", "FetchError: truncated: half of it")
        assert "FetchError: truncated" in error.reason

    def test_retries_keep_the_identity_of_the_request(self, crawl):
        site = Site({"/": Reply(500)})

        crawl(site.url("/"), fetch=site, robots=False)

        assert len({r.id for r in site.requests}) == 1

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
                with gevent.Timeout(10):
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


class TestBudget:
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


def test_a_user_agent_of_ones_own_has_its_own_rules():
    from crawler.settings import Settings

    args = Settings.load(code={"user_agent": "Magpie/2.0 (+mail)"}).request_args()

    assert args.agent == "Magpie"
    assert Settings.load().request_args().agent == "crawler"


def test_each_reason_comes_with_a_few_samples(crawl):
    pages = {"/": page(*(f"http://other{n}.test/" for n in range(9)), "ftp://site.test/", "/gone")}
    site = Site(pages | {"/gone": FetchError("tls", "no")})

    summary, _ = crawl(site.url("/"), fetch=site, robots=False)

    assert summary.samples == {
        "domain": [f"http://other{n}.test/" for n in range(3)],
        "scheme": ["ftp://site.test/"],
        "tls": [site.url("/gone")],
    }


def test_pages_that_have_moved_for_good_are_recorded(crawl):
    pages = {"/": page("/old", "/away"), "/old": Reply(301, {"Location": "/new"}), "/new": page()}
    site = Site(pages | {"/away": Reply(302, {"Location": "/for-now"}), "/for-now": page()})

    summary, _ = crawl(site.url("/"), fetch=site, robots=False)

    assert summary.moved == 1
