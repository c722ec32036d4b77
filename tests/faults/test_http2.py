"""Servers that break the rules of HTTP/2, or flood us with messages: each page has one kind."""

import gevent
import pytest
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    ExtensionFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    PushPromiseFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from crawler import CurlFetch, FetchError, Request
from crawler.fetch import Limits

from ..fetch.certificates import write_authority
from ..fetch.conftest import LOOPBACK
from ..fetch.http2_server import Http2Server

#: The status 200, in the coding of HTTP/2.
STATUS = b"\x88"
END = "END_HEADERS"
CANCEL, REFUSED, HTTP_1_1_REQUIRED = 8, 7, 13


def frames(*make):
    """A page of frames, each made by a function of the number of its stream."""
    return lambda stream: stream.raw(*(one(stream.number) for one in make))


def begun(*make, then=lambda stream: None):
    """A page that ends with frames, or otherwise, after a part of its body."""

    def page(stream):
        stream.headers()
        stream.data(b"hel")
        stream.raw(*(one(stream.number) for one in make))
        then(stream)

    return page


def flood(make, *before):
    """A page of the same frame again and again."""

    def page(stream):
        stream.raw(*(one(stream.number) for one in before))
        many = make(stream.number).serialize() * 100
        while True:
            stream.raw(many)
            gevent.sleep(0)

    return page


def sized(length, body):
    def page(stream):
        stream.headers(("content-length", length))
        stream.data(body, end=True)

    return page


def reset(code):
    return lambda number: RstStreamFrame(number, error_code=code)


def goaway(last=None, code=0):
    return lambda number: GoAwayFrame(
        0, last_stream_id=number if last is None else last, error_code=code
    )


def head(block=STATUS, *flags):
    return lambda number: HeadersFrame(number, data=block, flags=flags)


def data(number):
    return DataFrame(number, data=b"x" * 10_000)


def many_headers(stream):
    stream.headers(*((f"x-{n}", "a" * 1000) for n in range(400)))


#: A field of 3,800 bytes, and many references to it.
BOMB = STATUS + b"\x40\x03x-b\x7f\xd9\x1c" + b"a" * 3800 + b"\xbe" * 5000

FAULTS = {
    "a body shorter than its length": (sized("10", b"hello"), {"protocol", "truncated"}),
    "a body longer than its length": (sized("3", b"hello"), {"protocol"}),
    "reset in the body": (begun(reset(2)), {"protocol"}),
    "reset before the head": (frames(reset(CANCEL)), {"protocol"}),
    "refused": (frames(reset(REFUSED)), {"network"}),
    "wants HTTP/1.1": (frames(reset(HTTP_1_1_REQUIRED)), {"network"}),
    "closed before the head": (lambda stream: stream.close(), {"network"}),
    "closed in the body": (begun(then=lambda stream: stream.close()), {"network", "truncated"}),
    "connection reset in the body": (
        begun(then=lambda stream: stream.close(reset=True)),
        {"network", "truncated"},
    ),
    "goaway, and closed in the body": (
        begun(goaway(), then=lambda stream: stream.close()),
        {"network", "truncated"},
    ),
    "goaway that excludes the request": (frames(goaway(last=0)), {"network"}),
    "endless body": (flood(data, head(STATUS, END)), {"too_large"}),
    "endless head": (
        flood(lambda n: ContinuationFrame(n, data=b"\x00\x03x-a\x01b" * 10), head()),
        {"protocol", "too_large"},
    ),
    "endless empty continuations": (
        flood(lambda n: ContinuationFrame(n, data=b""), head()),
        {"protocol"},
    ),
    "a head of 400 kB": (many_headers, {"too_large"}),
    "a head that expands": (frames(head(BOMB, END)), {"too_large"}),
    "endless early hints": (flood(head(b"\x08\x03103", END)), {"too_large", "protocol"}),
    "endless pings": (flood(lambda _: PingFrame(0, opaque_data=b"12345678")), {"protocol"}),
    "endless settings": (flood(lambda _: SettingsFrame(0, settings={4: 65535})), {"protocol"}),
    "endless empty data": (
        flood(lambda n: DataFrame(n, data=b""), head(STATUS, END)),
        {"protocol", "timeout"},
    ),
    "endless priorities": (
        flood(lambda n: PriorityFrame(n, depends_on=0, stream_weight=1)),
        {"protocol", "timeout"},
    ),
    "unknown messages": (
        flood(lambda _: ExtensionFrame(0xEE, 0, flag_byte=0, body=b"x" * 100)),
        {"protocol", "timeout"},
    ),
    "no HTTP/2": (lambda stream: stream.raw(b"HTTP/1.1 200 OK\r\n\r\n" * 9), {"protocol"}),
    "no status": (frames(head(b"\x00\x01a\x01b", END, "END_STREAM")), {"protocol"}),
    "a status that is none": (
        lambda stream: stream.headers(status="42", end=True),
        {"protocol"},
    ),
    "two heads": (begun(head(STATUS, END)), {"protocol"}),
    "a head in no coding": (frames(head(b"\xff" * 6, END)), {"protocol"}),
    "data for a request that was not made": (
        frames(lambda n: DataFrame(n + 2, data=b"x")),
        {"protocol"},
    ),
    "data before the head": (frames(data), {"protocol"}),
    "too large a window": (
        frames(lambda _: WindowUpdateFrame(0, window_increment=2**31 - 1)),
        {"protocol"},
    ),
    # These end with the time limit.
    "silence": (lambda stream: None, {"timeout"}),
    "silence in the body": (begun(), {"timeout"}),
    "goaway with an error, and silence": (begun(goaway(code=11)), {"timeout", "protocol"}),
    "a push that was not wanted": (
        frames(lambda n: PushPromiseFrame(n, 2, data=b"\x82\x84\x87", flags=[END])),
        {"timeout", "protocol"},
    ),
    "endless windows": (flood(lambda n: WindowUpdateFrame(n, window_increment=1)), {"timeout"}),
}
SLOW = list(FAULTS)[-5:]


@pytest.fixture
def make_fetch(tmp_path):
    ca_file = write_authority(tmp_path)
    return lambda **limits: CurlFetch(
        ca_file=ca_file, limits=Limits(**limits), allow_address=LOOPBACK
    )


def fine(stream):
    stream.answer(b"fine")


def outcome(make_fetch, server, name):
    """Return the kind of the failure of a page, and the body of the page that is fetched next."""
    total = 0.5 if name in SLOW else 100
    with make_fetch(total=total, body=100_000, headers=50_000) as fetch:
        with pytest.raises(FetchError) as caught:
            fetch(Request(server.url(f"/{name}".replace(" ", "-"))))
        kind = caught.value.kind
        return kind, fetch(Request(server.url("/fine"), timeout=100, attempts=(kind,))).body


def test_each_fault_is_an_error_of_its_kind(make_fetch):
    pages = {f"/{name}".replace(" ", "-"): page for name, (page, _) in FAULTS.items()}
    with Http2Server({**pages, "/fine": fine}) as server:
        jobs = {name: gevent.spawn(outcome, make_fetch, server, name) for name in FAULTS}
        gevent.joinall(jobs.values(), timeout=120, raise_error=True)

    found = {name: job.value for name, job in jobs.items()}
    expected = {name: kinds for name, (_, kinds) in FAULTS.items()}
    assert {name: kind for name, (kind, _) in found.items() if kind not in expected[name]} == {}
    assert {body for _, body in found.values()} == {b"fine"}
    assert all(server.paths.count(path) <= 1 for path in pages)


def test_a_broken_connection_is_not_used_for_the_next_request(make_fetch):
    broken = {"/": flood(lambda n: ContinuationFrame(n, data=b""), head()), "/fine": fine}
    with Http2Server(broken) as server, make_fetch() as fetch:
        with pytest.raises(FetchError):
            fetch(Request(server.url()))

        assert fetch(Request(server.url("/fine"))).body == b"fine"


def test_a_page_that_was_begun_before_a_goaway_is_whole(make_fetch):
    def page(stream):
        begun(goaway())(stream)
        stream.data(b"lo", end=True)

    with Http2Server({"/": page}) as server, make_fetch() as fetch:
        assert [fetch(Request(server.url())).body for _ in range(3)] == [b"hello"] * 3

    assert server.connections == 3


@pytest.mark.xfail(strict=False, reason="libcurl takes a reset without an error for an end")
def test_a_body_that_is_reset_without_an_error_is_not_whole(make_fetch):
    server = Http2Server({"/": begun(reset(0))})

    with server, make_fetch() as fetch, pytest.raises(FetchError):
        fetch(Request(server.url()))


def test_all_pages_of_a_connection_that_breaks_end(make_fetch):
    waiting = []

    def page(stream):
        waiting.append(stream)
        if len(waiting) == 10:
            stream.close(reset=True)

    with Http2Server({"/": page, "/fine": fine}) as server, make_fetch() as fetch:
        fetch(Request(server.url("/fine")))
        jobs = [gevent.spawn(fetch, Request(server.url())) for _ in range(10)]
        gevent.joinall(jobs, timeout=120)

        assert {job.exception.kind for job in jobs} == {"network"}
        assert fetch(Request(server.url("/fine"))).body == b"fine"


@pytest.mark.parametrize("name", ["endless windows", "endless pings", "endless empty data"])
def test_a_flood_keeps_no_other_host_waiting(make_fetch, serve, name):
    site = serve({"/": "good"})
    with Http2Server({"/": FAULTS[name][0]}) as server, make_fetch(total=100) as fetch:
        jobs = [gevent.spawn(fetch, Request(server.url())) for _ in range(3)]
        while len(server.paths) < 3:
            gevent.sleep(0.001)

        assert [fetch(Request(site.url())).body for _ in range(20)] == [b"good"] * 20
        gevent.killall(jobs)
