"""Many bad replies in a row: memory does not grow, and the crawl does not stop."""

from pathlib import Path

import gevent
import pytest

from crawler.scheduler.memory_guard import MIB, resident_size

from .kinds import KINDS

#: Replies that end at once, whatever the client does.
QUICK = [
    name
    for name, (_, outcomes) in KINDS.items()
    if "timeout" not in outcomes and not name.startswith("deeply")
]


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def storm(serve, visit, replies, rounds=5):
    """Crawl *replies* bad replies in each of several rounds; return sizes and descriptors."""
    pages = {f"/{n}": KINDS[QUICK[n % len(QUICK)]][0] for n in range(len(QUICK))}
    site = serve(pages)
    after = []
    at_first = descriptors()
    for round_ in range(rounds):
        first = [site.url(f"/{n % len(QUICK)}?{round_}.{n}") for n in range(replies // rounds)]
        result = visit(
            lambda spider, page: [],
            *first,
            retries=1,
            max_body=200_000,
            limits__headers=100_000,
            timeout=10,
        )
        assert result.summary.urls.pending == 0
        assert sum(result.summary.urls.failed.values()) > len(first) / 2
        site.requests.clear()
        with gevent.Timeout(120, False):  # the server's sockets are in this process too
            while descriptors() > at_first + 5:
                gevent.sleep(0.02)
        after.append((resident_size(), descriptors()))
    return after


@pytest.mark.skipif(resident_size() is None, reason="the system does not report sizes")
def test_a_thousand_bad_replies_leave_nothing_behind(serve, visit, quiet):
    sizes, open_files = zip(*storm(serve, visit, 1000), strict=True)

    assert sizes[-1] <= sizes[1] + 20 * MIB
    assert max(open_files[1:]) <= open_files[0] + 5


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_ten_thousand_bad_replies_leave_nothing_behind(serve, visit, quiet):
    sizes, open_files = zip(*storm(serve, visit, 10_000, rounds=10), strict=True)

    assert sizes[-1] <= sizes[4] + 20 * MIB
    assert max(open_files[1:]) <= open_files[0] + 5
