from itertools import pairwise

import gevent
import pytest

from crawler.data import Links, Request
from crawler.testing import Site

HOME = "http://site.test/"


def blank(request):
    return Site({request.url: ""})(request)


@pytest.mark.parametrize("limit", [1, 5, 255, 256, 257, 900])
def test_a_page_gets_its_first_links_followed_and_the_others_counted(
    build, balanced, limit, caplog
):
    """Links and requests count alike, and in chunks as one by one."""

    def parse(response):
        if response.url == HOME:
            yield from (f"/{n}" for n in range(600))
            yield from (Request(f"{HOME}{n}", priority=1) for n in range(600, 1000))

    scheduler = build(blank, parse, max_links=limit)
    scheduler.start(HOME)

    assert scheduler.join()
    summary = scheduler.stop()
    assert summary.urls.done == 1 + limit
    assert summary.urls.turned_away == {"link_limit": 1000 - limit}
    assert summary.samples["link_limit"][0].endswith(f"/{limit}")
    balanced(summary, pending=0)
    assert caplog.text.count("max_links_per_page") == 1


def test_links_of_other_schemes_do_not_count_against_the_limit(build, balanced):
    def parse(response):
        if response.url == HOME:
            yield Links([f"mailto:{n}" for n in range(9)], 1, HOME, "scheme")
            yield from ["/1", "/2", "/3"]

    scheduler = build(blank, parse, max_links=2)
    scheduler.start(HOME)

    assert scheduler.join()
    summary = scheduler.stop()
    assert (summary.urls.done, summary.urls.turned_away) == (3, {"scheme": 9, "link_limit": 1})
    balanced(summary, pending=0)


def test_each_page_has_the_whole_limit(build):
    def parse(response):
        return [f"{response.url}/{n}" for n in range(3)] if response.depth < 2 else []

    scheduler = build(blank, parse, max_links=3)
    scheduler.start(HOME + "x")

    assert scheduler.join()
    assert scheduler.stop().urls.done == 1 + 3 + 9


def test_others_run_between_a_few_links_of_a_page_with_many(build):
    """One page may have 50,000 links, and each may take long to admit."""
    scheduler = build(blank, lambda _: (f"/{n}" for n in range(256 + 320)), max_depth=0)
    counted = [0]

    def watch():
        while counted[-1] < 256 + 320:
            counted.append(scheduler.summary().urls.turned_away.get("depth", 0))
            gevent.sleep(0)

    scheduler.start(HOME)
    watching = gevent.spawn(watch)
    assert scheduler.join()
    watching.get(timeout=120)
    scheduler.stop()

    steps = [after - before for before, after in pairwise(counted) if after > before]
    assert len(steps) >= 10
    assert max(steps[1:]) <= 32
