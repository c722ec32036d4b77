"""Endless sites: the crawl ends within its limits, and has all pages of the site beside them."""

import itertools
from collections import Counter
from random import Random

import pytest

from crawler import (
    Analyzer,
    DataArgs,
    Downloader,
    ModuleArgs,
    Pipeline,
    RequestArgs,
    Scheduler,
    crawl,
)
from crawler.data import Response
from crawler.frontier import Frontier, Politeness, Retries, TrapGuard
from crawler.job.view import JobView
from crawler.report.reasons import explain
from crawler.spider import PageSpider, links
from crawler.testing import generated_site
from crawler.url import host, registered_domain, target

GOOD = generated_site(pages=150, links=5, size=400)
#: The default limits, each divided so that a test takes little time.
CAPS = {
    "max_segments": 12,
    "max_repeats": 3,
    "max_dates": 40,
    "max_query_variants": 60,
    "max_chain": 60,
    "max_hosts_per_domain": 60,
}
PAGES = 300
fresh = itertools.count()
chance = Random(18)


def hrefs(*found):
    return "".join(f'<a href="{href}">x</a>' for href in found)


def calendar(path):
    year, month = (
        map(int, path.partition("?")[0].strip("/").split("/")) if path != "/" else (2024, 1)
    )
    later = f"/{year + month // 12}/{month % 12 + 1:02}"
    earlier = f"/{year - (month == 1)}/{(month - 2) % 12 + 1:02}"
    return hrefs(later, earlier)


def session_in_query(path):
    return hrefs(*(f"/page/{n}?sid={next(fresh)}" for n in range(3)))


def session_in_path(path):
    return hrefs(*(f"/(S({session_id()}))/{name}" for name in ("", "page/1", "about")))


def session_in_parameter(path):
    return hrefs(*(f"/{name};jsessionid={session_id()}" for name in ("", "page/1", "about")))


def session_id():
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz012345", k=24))


def days(path):
    return hrefs(f"/day/{int(path.rpartition('/')[2] or 0) + 1}")


def days_and_nights(path):
    """Pages of two kinds in turn: none is like the one that it was found on."""
    number = int(path.strip("/").rpartition("/")[2] or 0)
    return hrefs(f"/night/{number}/" if "day" in path else f"/day/{number + 1}")


def far_calendar(path):
    """A calendar of which only the next month is linked."""
    year, month = map(int, path.strip("/").split("/")) if path != "/" else (2098, 1)
    return hrefs(f"/{year + month // 12}/{month % 12 + 1:02}")


def nested(path):
    return hrefs(f"{path.rstrip('/')}/a/b", f"{path.rstrip('/')}/a")


def sorted_anyhow(path):
    columns = ["name", "price", "size", "date", "rank"]
    chosen = itertools.islice(itertools.permutations(columns), next(fresh) % 100, 120)
    return hrefs(*(f"/list?sort={','.join(order)}&n={next(fresh)}" for order in chosen))


def pagination(path):
    number = int(path.rpartition("=")[2]) if "=" in path else 0
    return hrefs(f"/list?page={number + 1}", f"/list?page={number + 2}")


def soft_404(path):
    """A site where every URL is a page with new links."""
    return "<h1>Sorry, not found</h1>" + hrefs(*(f"/{next(fresh):x}/{n}" for n in range(3)))


def host_for_every_link(path):
    return hrefs(*(f"http://h{next(fresh)}.trap.test/" for _ in range(3)))


TRAPS = {
    "calendar": (calendar, "trap_calendar"),
    "session in the query": (session_in_query, "trap_query"),
    "calendar of the next century": (far_calendar, "trap_calendar"),
    "session in the path": (session_in_path, "trap_chain"),
    "session in a parameter of the path": (session_in_parameter, "trap_chain"),
    "days": (days, "trap_chain"),
    "days and nights": (days_and_nights, "trap_chain"),
    "nested": (nested, "trap_repeat"),
    "sorted anyhow": (sorted_anyhow, "trap_query"),
    "pagination": (pagination, "trap_query"),
    "soft 404": (soft_404, "host_cap"),
    "a host for every link": (host_for_every_link, "trap_hosts"),
}


class Args(RequestArgs):
    """The settings are the defaults, except for the size of the limits."""

    def frontier(self, first=(), slots=None):
        return Frontier(
            self.scope.including(first),
            politeness=self.politeness,
            retries=self.retries,
            traps=TrapGuard(PAGES, **CAPS),
        )


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_ends_within_the_caps_and_the_site_beside_it_is_whole(name, quiet):
    trap, reason = TRAPS[name]
    fetched = Counter()

    def fetch(request):
        fetched[registered_domain(host(request.url))] += 1
        path = target(request.url)
        page = GOOD.get(path, "") if host(request.url) == "good.test" else trap(path)
        return Response(request.url, 200, {"content-type": "text/html"}, page.encode(), request)

    with Scheduler() as scheduler:
        scheduler.init(
            Args(max_depth=None, politeness=Politeness.off(), retries=Retries(1)),
            DataArgs(),
            ModuleArgs([Downloader(fetch)], [Analyzer(links)], [Pipeline()]),
        )
        scheduler.start(["http://good.test/", "http://trap.test/"])
        assert scheduler.join(timeout=120)
        summary = scheduler.stop()

    assert fetched["good.test"] == len(GOOD)
    assert fetched["trap.test"] <= PAGES
    assert summary.urls.turned_away[reason] > 0
    assert host(summary.samples[reason][0]).endswith("trap.test")
    assert summary.urls.pending == 0


def test_a_chain_goes_on_over_a_restart_and_why_explains_its_end(tmp_path):
    fetched = []

    def fetch(request):
        fetched.append(request.url)
        body = days(target(request.url)).encode()
        return Response(request.url, 200, {"content-type": "text/html"}, body, request)

    settings = {"depth": None, "delay": 0, "robots": False, "max_chain": 20}
    for most in (8, 15, None):
        spider = PageSpider(start_urls=["http://trap.test/"])
        crawl(spider, fetch=fetch, job=tmp_path / "job", max_pages=most, **settings)

    assert fetched == ["http://trap.test/", *(f"http://trap.test/day/{n}" for n in range(1, 22))]
    with JobView(tmp_path / "job") as view:
        [story] = view.why("http://trap.test/day/22")
    assert (story.status, story.reason) == ("turned_away", "trap_chain")
    assert "max_chain" in explain(story.reason)


def test_the_default_caps_are_finite():
    """The number of pages of a host has no limit: only the owner knows it."""
    guard = TrapGuard()

    depth = "http://site.test/" + "/".join(f"s{n}" for n in range(31))
    repeat = "http://site.test" + "/a/b" * 3 + "/"
    assert guard.refusal(depth) == "trap_depth"
    assert guard.refusal(repeat) == "trap_repeat"
    dates = (
        f"http://site.test/cal/{y}/{m}/{d}"
        for y in range(1990, 2010)
        for m in range(1, 13)
        for d in range(1, 29)
    )
    assert Counter(map(guard.refusal, dates))["trap_calendar"] > 0
    days = (guard.refusal(f"http://site.test/day/{n}", n) for n in range(11_000))
    assert Counter(days)["trap_chain"] > 0
    queries = (f"http://site.test/list?n={n}" for n in range(10_100))
    assert Counter(map(guard.refusal, queries))["trap_query"] == 100
    hosts = (f"http://h{n}.site.test/" for n in range(20_100))
    assert Counter(map(guard.refusal, hosts))["trap_hosts"] == 100
