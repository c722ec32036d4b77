"""The Crawl-delay of a host is kept, whoever has its shard and whoever dies."""

import random
from itertools import pairwise

import gevent
import pytest

from crawler.testing import Reply

from .joined import PAGES, is_whole, join
from .tree_site import HOSTS, SETTINGS

DELAY = 0.15
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 20))]


@pytest.fixture
def ttl():
    """Leases soon run out."""
    return 1.0


def die(member):
    """Take, commit, read and renew nothing any more."""
    member.frontier.pause()
    member.leases.close()
    member.inboxes.close()
    member.held.commits._writing.kill()
    member.held.commits.failure = RuntimeError("dead")


@pytest.mark.parametrize("seed", SEEDS)
def test_no_host_is_asked_earlier_than_it_wants_while_schedulers_die(
    server, client, record, site, seed
):
    rng = random.Random(seed)
    robots = Reply(200, {"content-type": "text/plain"}, f"User-agent: *\nCrawl-delay: {DELAY}\n")
    site.pages["/robots.txt"] = robots
    settings = {**SETTINGS, "robots": True}
    members = [join(server, record, site, settings=settings) for _ in range(2)]
    for _ in range(2):
        seen = len(site.requests)
        wanted = seen + rng.randint(5, 25)
        while len(site.requests) < wanted and client.hget(record.keys.job, "status") == b"running":
            gevent.sleep(0.005)
        die(members.pop(rng.randrange(len(members)))[0])
        members.append(join(server, record, site, settings=settings))
    for _, result in members:
        result.wait()

    is_whole(client, record, site)
    for host in HOSTS:
        times = sorted(
            hit.at for hit in site.requests if hit.address == host and hit.path != "/robots.txt"
        )
        assert len(times) > 1
        assert min(later - earlier for earlier, later in pairwise(times)) >= DELAY
    assert len(site.requests) > PAGES
