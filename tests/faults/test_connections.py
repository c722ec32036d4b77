"""Servers that misuse a kept connection: each page has its own content, and keeps its distance."""

from itertools import pairwise

import pytest

from crawler.testing import End, Wire, faults

PAGES = 6


def parse(spider, page):
    yield {"url": page.url, "title": page.title}


@pytest.fixture
def closing_on_second(serve):
    """A site that closes each connection when it gets a second request, without a reply."""
    served = set()

    def page(request):
        peer = site.requests[-1].peer
        if peer in served:
            return Wire(End.CLOSE)
        served.add(peer)
        return f"<title>{request.url}</title>"

    site = serve({"/": page})
    return site


def test_no_page_gets_a_reply_that_came_late_and_unasked(serve, visit):
    titles = {f"/{n}": f"<title>{n}</title>" for n in range(2)}
    site = serve({"/late": faults.smuggled(0.03), **titles})

    result = visit(parse, site.url("/late"), *map(site.url, titles), delay=1.0, per_host=1)

    found = {item["url"]: item["title"] for item in result.items}
    assert found.pop(site.url("/late")) is None
    assert found == {site.url(path): path[1:] for path in titles}


def test_a_request_that_a_closed_connection_has_lost_keeps_the_hosts_delay(
    closing_on_second, visit
):
    site = closing_on_second

    result = visit(parse, *(site.url(f"/?{n}") for n in range(PAGES)), delay=0.05, per_host=1)

    assert result.summary.urls.done == PAGES
    assert {item["url"]: item["title"] for item in result.items} == {
        site.url(f"/?{n}"): site.url(f"/?{n}") for n in range(PAGES)
    }
    assert len(site.requests) > PAGES
    assert min(later.at - hit.at for hit, later in pairwise(site.requests)) >= 0.05
