import pytest

from crawler.data import Link, Request
from crawler.frontier.hosts.nearest_depth import NearestDepth

URL = "http://a.test/"


def link(depth):
    return Link(URL, depth, f"http://a.test/{depth}")


@pytest.fixture
def nearest():
    return NearestDepth(matters=True)


def test_a_url_found_again_at_a_smaller_depth_waits_at_that_depth(nearest):
    nearest.enter(Request(URL, depth=3, priority=7))

    nearer = nearest.nearer(link(1))

    assert (nearer.depth, nearer.found_on, nearer.priority) == (1, "http://a.test/1", 7)


@pytest.mark.parametrize("depth", [3, 4])
def test_the_same_or_a_greater_depth_changes_nothing(nearest, depth):
    nearest.enter(link(3))

    assert nearest.nearer(link(depth)) is None
    assert len(nearest) == 0


def test_a_url_that_does_not_wait_has_no_depth(nearest):
    nearest.enter(link(3))
    assert nearest.depth_of(URL) == 3

    assert not nearest.leave(Request(URL, depth=3))

    assert nearest.depth_of(URL) == 0
    assert nearest.nearer(link(1)) is None


def test_the_older_entry_is_stale_once(nearest):
    nearest.enter(link(3))
    nearest.enter(nearest.nearer(link(1)))
    assert len(nearest) == 1

    assert nearest.leave(Request(URL, depth=3))

    assert nearest.depth_of(URL) == 1, "the newer entry still waits"
    assert len(nearest) == 0
    assert not nearest.leave(Request(URL, depth=1))


@pytest.mark.parametrize("different", [{"method": "POST"}, {"dont_filter": True}])
def test_another_request_for_the_same_url_is_not_the_stale_one(nearest, different):
    nearest.enter(link(3))
    nearest.enter(nearest.nearer(link(1)))

    assert not nearest.leave(Request(URL, depth=3, **different))

    assert len(nearest) == 1


def test_without_a_depth_limit_nothing_is_remembered():
    nearest = NearestDepth(matters=False)

    nearest.enter(link(3))

    assert nearest.nearer(link(1)) is None
    assert nearest.depth_of(URL) == 0
