"""Servers that misbehave under TLS: faults have the same kinds as without, and no cut is an end."""

import socket
import struct

import gevent
import pytest
from gevent.server import StreamServer

from crawler import CurlFetch, FetchError, Request
from crawler.fetch import Limits

from ..fetch.certificates import server_tls, write_authority
from ..fetch.conftest import LOOPBACK
from ..fetch.fault_kinds import FAULTS, PAGE

LENGTH = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"
NO_LENGTH = b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.fixture
def make_fetch(tmp_path):
    ca_file = write_authority(tmp_path)
    return lambda **limits: CurlFetch(
        ca_file=ca_file, limits=Limits(**limits), allow_address=LOOPBACK
    )


def failure(fetch, url):
    with pytest.raises(FetchError) as caught:
        fetch(Request(url))
    return caught.value.kind


def test_each_fault_has_the_same_kind_as_without_tls(make_fetch, serve):
    pages = {f"/{number}": page for number, (page, _) in enumerate(FAULTS.values())}
    site = serve({**pages, "/fine": PAGE}, tls=server_tls())

    with make_fetch(total=20, body=100_000, headers=50_000) as fetch:
        found = {}
        for path, name in zip(pages, FAULTS, strict=True):
            found[name] = failure(fetch, site.url(path))
            assert fetch(Request(site.url("/fine"))).body == PAGE

    assert found == {name: kind for name, (_, kind) in FAULTS.items()}


def cut(sent, *, notify=False):
    """End the connection after *sent*; only with *notify* does TLS say that this is the end."""

    def serve(client):
        client.recv(65536)
        client.sendall(sent)
        if notify:
            client.unwrap()

    return serve


def unsecured(sent):
    """Send something without TLS in the middle of a body."""

    def serve(client):
        client.recv(65536)
        client.sendall(LENGTH + b"hello")
        with gevent.socket.socket(fileno=client.detach()) as plain:
            plain.sendall(sent)
            plain.recv(1)

    return serve


def run(make_fetch, serve, **limits):
    """Fetch from a server that calls *serve* with each connection, after the handshake of TLS."""
    tls = server_tls()

    def handle(client, _peer):
        try:
            with tls.wrap_socket(client, server_side=True) as secured:
                serve(secured)
        except OSError:
            pass

    return run_plain(make_fetch, handle, **limits)


def run_plain(make_fetch, handle, **limits):
    server = StreamServer(("127.0.0.1", 0), handle)
    server.start()
    try:
        with make_fetch(**limits) as fetch:
            return fetch(Request(f"https://127.0.0.1:{server.server_port}/")).body
    except FetchError as error:
        return error.kind
    finally:
        server.stop(timeout=0)


@pytest.mark.parametrize(
    ("serve", "found"),
    [
        (cut(LENGTH + b"hello"), "truncated"),
        (cut(LENGTH + b"hello", notify=True), "truncated"),
        (cut(NO_LENGTH + b"hello"), "truncated"),
        (cut(NO_LENGTH + b"hello", notify=True), b"hello"),
        (cut(b""), "network"),
        (unsecured(b"\0garbage" * 10), "truncated"),
        (unsecured(b"\x15\x03\x03\x00\x02\x02\x28"), "truncated"),
    ],
    ids=[
        "length",
        "length, notified",
        "no length",
        "no length, notified",
        "nothing",
        "garbage",
        "alert",
    ],
)
def test_a_cut_is_no_end(make_fetch, serve, found):
    assert run(make_fetch, serve) == found


def reset(client, _peer):
    client.recv(10)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def flood(client, _peer):
    with gevent.Timeout(120, False):
        try:
            while True:
                client.sendall(b"\x16\x03\x03\x40\x00" + b"\x01" * 16384)
        except OSError:
            pass


@pytest.mark.parametrize(
    ("handle", "kind"),
    [
        (reset, "tls"),
        (flood, "tls"),
        (lambda client, _: client.sendall(NO_LENGTH), "tls"),
        (lambda client, _: gevent.sleep(20), "timeout"),
    ],
    ids=["reset", "flood", "plain HTTP", "silence"],
)
def test_a_handshake_that_fails_has_its_kind(make_fetch, handle, kind):
    assert run_plain(make_fetch, handle, connect=0.5 if kind == "timeout" else 100) == kind
