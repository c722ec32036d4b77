import pytest

from crawler.data import Request, Response
from crawler.errors import FetchError
from crawler.middleware import Depth, UrlLength

from .chains import HOME, opened, passed


@pytest.mark.parametrize(
    ("limit", "passes"), [(len(HOME) + 9, True), (len(HOME) + 8, False), (0, True)]
)
def test_long_urls_are_dropped(limit, passes):
    chain = opened(UrlLength(limit))

    assert (passed(chain, "/123456789") is not None) is passes
    assert (chain.request(HOME + "123456789") is not None) is passes


@pytest.mark.parametrize(("limit", "passes"), [(3, True), (2, False), (0, True)])
def test_what_is_too_far_from_the_start_is_dropped(limit, passes):
    deep = Response(HOME, 200, request=Request(HOME, depth=2))

    assert (passed(opened(Depth(limit)), "/a", deep) is not None) is passes


def test_depth_is_counted_from_the_first_requests():
    middleware = Depth()
    deep = Response(HOME, 200, request=Request(HOME, depth=2))

    assert opened(middleware).request(HOME).depth == 0
    assert middleware.process_request(request=Request(HOME), response=deep, spider=None).depth == 3


def test_depth_holds_for_what_an_error_leads_to():
    chain = opened(Depth(2))
    failure = FetchError("dns", "")

    [lost] = chain.error(failure, Request(HOME, depth=2), lambda _: "/a")
    assert (lost.urls, lost.refusal) == ([f"{HOME}a"], "middleware")
    assert len(list(chain.error(failure, Request(HOME, depth=1), lambda _: "/a"))) == 1


@pytest.mark.parametrize("kind", [UrlLength, Depth])
@pytest.mark.parametrize("wrong", [-1, None, True, 2.5])
def test_a_limit_is_a_whole_number(kind, wrong):
    with pytest.raises(ValueError, match="must be a whole number"):
        kind(wrong)
