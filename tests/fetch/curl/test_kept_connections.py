"""A kept connection is reused only if the server has sent nothing on it."""

import gevent
import pytest
from gevent.event import Event

from crawler import CurlFetch, Request
from crawler.fetch import any_address
from crawler.fetch.curl.kept_connections import KeptConnections
from crawler.testing import LoopbackSite, Wire, faults

from ..certificates import server_tls

UNASKED = faults.head("content-length: 8") + b"unasked!"


class Later:
    """A page, and *more* on the same connection when it is asked for."""

    def __init__(self, *more):
        self._more = more
        self._is_wanted, self._is_sent = Event(), Event()

    def page(self, _request):
        return Wire(faults.head("content-length: 5") + b"first", self._steps())

    def _steps(self):
        self._is_wanted.wait(120)
        yield from self._more
        self._is_sent.set()

    def send(self):
        self._is_wanted.set()
        assert self._is_sent.wait(120)


@pytest.mark.parametrize("tls", [None, server_tls()], ids=["plain", "TLS"])
@pytest.mark.parametrize("more", [UNASKED, b"x"])
def test_what_nobody_asked_for_is_no_reply_to_the_next_request(serve, more, tls):
    later = Later(more)
    site = serve({"/": later.page, "/next": "next"}, tls=tls)

    with CurlFetch(allow_address=any_address, verify=False) as fetch:
        assert fetch(Request(site.url())).body == b"first"
        later.send()
        assert [fetch(Request(site.url("/next"))).body for _ in range(3)] == [b"next"] * 3

    assert site.connections == 2


def test_all_kept_connections_of_a_host_may_be_unfit(serve):
    laters = [Later(UNASKED) for _ in range(5)]
    pages = {f"/{number}": later.page for number, later in enumerate(laters)}
    site = serve({**pages, "/next": "next"})

    with CurlFetch(allow_address=any_address) as fetch:
        jobs = [gevent.spawn(fetch, Request(site.url(path))) for path in pages]
        gevent.joinall(jobs, raise_error=True)
        for later in laters:
            later.send()
        assert [fetch(Request(site.url("/next"))).body for _ in range(8)] == [b"next"] * 8


def test_a_connection_without_input_is_reused(serve):
    site = serve({"/": "page"})

    with CurlFetch(allow_address=any_address) as fetch:
        for _ in range(5):
            fetch(Request(site.url()))
            gevent.sleep(0)

    assert site.connections == 1


def test_there_is_one_entry_for_each_descriptor():
    with CurlFetch(max_connections=2, allow_address=any_address) as fetch:
        for _ in range(20):
            with LoopbackSite({"/": faults.closing()}) as site:
                fetch(Request(site.url()))
        kept = fetch._kept
        assert len(kept._polls) == len(kept._by_descriptor) < 10


def test_a_connection_that_is_not_known_is_fit():
    assert KeptConnections().is_fit(("127.0.0.1", "127.0.0.1", 80, 40000))
