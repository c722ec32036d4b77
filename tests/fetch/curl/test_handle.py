"""A reused handle sends exactly what a new one would send."""

import gevent
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler import CurlFetch, FetchError, Headers, Request
from crawler.fetch import Limits, any_address
from crawler.testing import LoopbackSite, Reply, faults

#: The same objects repeatedly, and equal ones: a handle compares by identity.
HEADERS = [
    Headers(),
    Headers({"X-One": "1"}),
    Headers({"X-One": "1"}),
    Headers({"X-Empty": "", "Accept": "text/plain"}),
    Headers({"User-Agent": "mine/1", "Accept-Encoding": "identity"}),
    Headers({"content-TYPE": "text/plain", "X-Four": "4"}),
    Headers([("X-Two", "1"), ("X-Two", "2"), ("Cookie", "own=1")]),
]
COOKIES = [{}, {"a": "1"}, {"a": "1"}, {"a": "2", "b": "3"}]
METHODS = ["GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"]
BODIES = [b"", b"", b"x", b"a=1&b=2" * 500]
#: Several hosts, with and without their own connections, and one that does not exist.
TARGETS = [("127.0.0.1", "/"), ("127.0.0.1", "/a?b=c"), ("127.0.0.2", "/"), ("127.0.0.1", "/gone")]


@st.composite
def wishes(draw):
    return {
        "target": draw(st.sampled_from(TARGETS)),
        "method": draw(st.sampled_from(METHODS)),
        "headers": draw(st.sampled_from(HEADERS)),
        "cookies": draw(st.sampled_from(COOKIES)),
        "body": draw(st.sampled_from(BODIES)),
        "timeout": draw(st.sampled_from([None, None, 20.0, 25.0])),
        "proxied": draw(st.sampled_from([False, False, False, True])),
    }


def echo(request):
    return Reply(headers={"x-method": request.method}, body=b"you said: " + request.body)


@pytest.fixture(scope="module")
def site():
    pages = {"/": echo, "/a": echo, "/silent": faults.silence()}
    with LoopbackSite(pages, addresses=("127.0.0.1", "127.0.0.2")) as site:
        yield site


def exchange(fetch, site, request):
    """Return the request that arrived, and the result."""
    before = len(site.requests)
    try:
        response = fetch(request)
    except FetchError as error:
        outcome = error.kind
    else:
        outcome = (response.status, response.headers, response.body)
    return [(hit.head, hit.body, hit.address) for hit in site.requests[before:]], outcome


def asked(site, target, proxied, **fields):
    address, path = target
    proxy = site.url("", "127.0.0.2") if proxied else None
    return Request(site.url(path, address), proxy=proxy, **fields)


@settings(max_examples=60)
@given(st.lists(wishes(), min_size=2, max_size=12))
def test_a_request_is_sent_the_same_whatever_was_sent_before(site, sequence):
    with CurlFetch(max_connections=1, limits=Limits(total=20), allow_address=any_address) as used:
        for fields in sequence:
            request = asked(site, **fields)
            with (
                CurlFetch(limits=Limits(total=20), allow_address=any_address) as fresh,
                gevent.Timeout(120),
            ):
                assert exchange(used, site, request) == exchange(fresh, site, request)


@pytest.mark.parametrize("before", [[None], [20.0], [20.0, None], [None, 20.0]])
def test_a_timeout_holds_after_requests_with_other_timeouts(site, before):
    with (
        CurlFetch(limits=Limits(total=20), allow_address=any_address) as fetch,
        gevent.Timeout(120),
    ):
        for timeout in before:
            fetch(Request(site.url(), timeout=timeout))

        with pytest.raises(FetchError) as caught:
            fetch(Request(site.url("/silent"), timeout=0.1))

    assert caught.value.kind == "timeout"


@pytest.mark.parametrize("before", [[20.0], [20.0, 25.0]])
def test_the_timeout_of_a_request_does_not_hold_for_the_next_one_without(site, before):
    with (
        CurlFetch(limits=Limits(total=0.2), allow_address=any_address) as fetch,
        gevent.Timeout(120),
    ):
        for timeout in before:
            fetch(Request(site.url(), timeout=timeout))

        with pytest.raises(FetchError) as caught:
            fetch(Request(site.url("/silent")))

    assert caught.value.kind == "timeout"
