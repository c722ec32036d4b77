import pytest

from crawler.data import Request
from crawler.frontier import BloomSeen
from crawler.middleware import Duplicates

from .chains import HOME, opened, passed


@pytest.mark.parametrize("options", [{}, {"make_seen": BloomSeen}])
def test_a_request_passes_once(options):
    chain = opened(Duplicates(**options))

    assert passed(chain, "/a#top") is not None
    assert passed(chain, "/a") is None
    assert chain.request(HOME + "%61") is None
    assert passed(chain, Request(HOME + "a", method="POST", body=b"x")) is not None


def test_dont_filter_passes_and_leaves_no_trace():
    chain = opened(Duplicates)
    again = Request(HOME + "a", dont_filter=True)

    assert passed(chain, again) is not None
    assert passed(chain, again) is not None
    assert passed(chain, "/a") is not None
    assert passed(chain, again) is not None


def test_what_is_no_url_is_for_the_frontier_to_refuse():
    chain = opened(Duplicates)

    assert passed(chain, "http://[") is not None
    assert passed(chain, "http://[") is not None
