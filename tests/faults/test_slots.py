"""Hosts that never answer take no more than their share of the requests in flight."""

import pytest

from crawler import Spider, stream
from crawler.testing import faults

from .conftest import FAST

GOOD = 150
SLOTS = 16


class Follow(Spider):
    max_depth = None

    def parse(self, page):
        yield {"url": page.url}
        yield from page.links()


@pytest.mark.parametrize("robots", [False, True], ids=["no robots", "robots"])
def test_many_hosts_of_one_domain_leave_slots_to_a_good_host(serve, quiet, robots):
    """They come before the good host, and answer for their robots.txt at most."""
    slow = serve({"/": faults.silence()})
    good = serve({f"/{n}": f"<a href='/{n + 1}'>next</a>" for n in range(GOOD)})
    first = [f"http://h{n}.slow.localhost:{slow.port}/" for n in range(5 * SLOTS)]
    limits = {"concurrency": SLOTS, "per_host": 2, "robots": robots}

    result = stream(Follow(start_urls=[*first, good.url("/0")]), **{**FAST, **limits})
    reader = iter(result)
    items = [next(reader) for _ in range(GOOD)]
    asked = sum(hit.path == "/" for hit in slow.requests)
    result.stop(0)

    # Had the good host waited for one of the others, their timeout would have ended the test.
    assert {item["url"] for item in items} == {good.url(f"/{n}") for n in range(GOOD)}
    assert asked <= SLOTS // 2
