"""What Redis knows of a URL."""

import pytest

from crawler.cluster.url_story import url_story
from crawler.data import Request
from crawler.errors import ClusterError
from crawler.frontier import DONE

from .shard import holder


@pytest.fixture
def one(server):
    with holder(server.url) as one:
        shard = one.open(0, "first")
        for name in "ab":
            shard.frontier.admit(
                Request(f"http://x.test/{name}", found_on="http://x.test/", depth=2)
            )
        taken = shard.frontier.take()
        shard.frontier.settle(taken, DONE)
        one.commits.write()
        one.ended = taken.request.url
        yield one


def story(one, server, url):
    return url_story(server.url, one.record.keys.name, url)


def test_a_url_waits_has_ended_or_was_not_met(one, server):
    [waits] = {"http://x.test/a", "http://x.test/b"} - {one.ended}

    found = story(one, server, waits)

    assert (found["status"], found["found_on"], found["depth"]) == ("pending", "http://x.test/", 2)
    assert story(one, server, one.ended)["status"] == "ended"
    assert story(one, server, "http://x.test/c")["status"] == "not met"


@pytest.mark.parametrize("url", ["mailto:x", "x.test/a", "http://"])
def test_a_url_without_a_host_is_refused_by_name(one, server, url):
    with pytest.raises(ClusterError, match=url):
        story(one, server, url)
