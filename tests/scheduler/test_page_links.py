import pytest

from crawler.data import Request
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


def test_each_page_has_the_whole_limit(build):
    def parse(response):
        return [f"{response.url}/{n}" for n in range(3)] if response.depth < 2 else []

    scheduler = build(blank, parse, max_links=3)
    scheduler.start(HOME + "x")

    assert scheduler.join()
    assert scheduler.stop().urls.done == 1 + 3 + 9
