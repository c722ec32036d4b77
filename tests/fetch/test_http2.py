"""HTTP/2, against a small server of its own."""

import gevent
import pytest
from gevent.event import Event
from hyperframe.frame import PingFrame, SettingsFrame

from crawler import CurlFetch, Request

from .certificates import write_authority
from .conftest import LOOPBACK
from .http2_server import Http2Server


@pytest.fixture
def serve(stack):
    return lambda pages=None: stack.enter_context(Http2Server(pages))


@pytest.fixture
def fetch(stack, tmp_path):
    return stack.enter_context(CurlFetch(ca_file=write_authority(tmp_path), allow_address=LOOPBACK))


def test_http2_is_spoken_where_the_server_speaks_it(serve, fetch):
    server = serve()

    first = fetch(Request(server.url("/first")))
    jobs = [gevent.spawn(fetch, Request(server.url(f"/{n}"))) for n in range(30)]
    gevent.joinall(jobs, raise_error=True)

    assert (first.status, first.body, first.headers["content-type"]) == (
        200,
        b"/first",
        "text/plain",
    )
    assert [job.value.body for job in jobs] == [f"/{n}".encode() for n in range(30)]
    assert len(server.paths) == 31
    assert server.connections < 31, "streams share connections"


def test_a_connection_is_reused_after_messages_that_belong_to_no_request(serve, fetch):
    is_fetched, is_sent = Event(), Event()

    def page(stream):
        stream.answer(b"page")
        gevent.spawn(send_more, stream)

    def send_more(stream):
        is_fetched.wait(120)
        stream.raw(PingFrame(0, opaque_data=b"12345678"), SettingsFrame(0, settings={4: 70000}))
        is_sent.set()

    server = serve({"/": page})
    fetch(Request(server.url()))
    is_fetched.set()
    assert is_sent.wait(120)

    assert fetch(Request(server.url())).body == b"page"
    assert server.connections == 1


def test_a_connection_that_the_server_has_ended_is_not_reused(serve, fetch):
    streams = []

    def page(stream):
        stream.answer(b"page")
        streams.append(stream)

    server = serve({"/": page})
    fetch(Request(server.url()))
    streams[0].close()

    assert [fetch(Request(server.url())).body for _ in range(3)] == [b"page"] * 3
    assert len(server.paths) == 4
