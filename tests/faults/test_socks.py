"""SOCKS proxies that misbehave, and servers that misbehave behind one: each page has one kind."""

import socket
import struct

import gevent
import pytest
from gevent.server import StreamServer

from crawler import CurlFetch, FetchError, Request
from crawler.fetch import Limits

from ..fetch.conftest import LOOPBACK
from ..fetch.fault_kinds import FAULTS, PAGE
from ..fetch.proxies import SocksProxy

CONNECTED = b"\x05\x00\x00\x01" + bytes(6)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"
#: Answers that do not concern the proxy: network or host unreachable, refused, too many hops.
OF_THE_SITE = {3, 4, 5, 6}
#: The tunnel ends a connection that the server resets.
OTHER_KINDS = {"reset in the head": "truncated"}


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_each_fault_of_a_server_has_the_same_kind_as_without_a_proxy(serve, scheme):
    pages = {f"/{number}": page for number, (page, _) in enumerate(FAULTS.values())}
    site = serve({**pages, "/fine": PAGE})
    found = {}

    limits = Limits(total=20, body=100_000, headers=50_000)
    with SocksProxy() as proxy, CurlFetch(limits=limits, allow_address=LOOPBACK) as fetch:
        for path, name in zip(pages, FAULTS, strict=True):
            with pytest.raises(FetchError) as caught:
                fetch(Request(site.url(path), proxy=proxy.url(scheme)))
            found[name] = caught.value.kind
            assert fetch(Request(site.url("/fine"), proxy=proxy.url(scheme))).body == PAGE

    assert found == {name: OTHER_KINDS.get(name, kind) for name, (_, kind) in FAULTS.items()}


def reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def flood(client):
    while True:
        client.sendall(b"\x07" * 65536)


def drip(client):
    for byte in CONNECTED:
        client.sendall(bytes([byte]))
        gevent.sleep(0.005)
    client.recv(65536)
    client.sendall(HEAD + b"0123456789")


def sent(*replies):
    """Send *replies*, one after each message of the client, and close the connection."""

    def serve(client):
        for reply in replies:
            client.recv(65536)
            client.sendall(reply)

    return serve


def greeted(serve):
    """Go on with *serve* after the greeting and the request to connect."""

    def go_on(client):
        sent(b"\x05\x00", b"")(client)
        serve(client)

    return go_on


FAULTS_OF_A_PROXY = {
    "closed at once": (lambda _: None, "proxy"),
    "reset at once": (reset, "proxy"),
    "no SOCKS": (sent(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "proxy"),
    "no method": (sent(b"\x05\xff"), "proxy"),
    "wants a password": (sent(b"\x05\x02", b"\x01\x01"), "proxy"),
    "half a greeting": (sent(b"\x05"), "proxy"),
    "endless greeting": (flood, "proxy"),
    "closed instead of connected": (sent(b"\x05\x00", b""), "proxy"),
    "half an answer": (sent(b"\x05\x00", CONNECTED[:5]), "proxy"),
    "another version": (sent(b"\x05\x00", b"\x04" + CONNECTED[1:]), "proxy"),
    "an unknown type": (sent(b"\x05\x00", b"\x05\x00\x00\x09" + bytes(6)), "proxy"),
    "endless answer": (greeted(flood), "proxy"),
    **{
        f"refusal {code}": (
            sent(b"\x05\x00", bytes([5, code, 0, 1]) + bytes(6)),
            "connect" if code in OF_THE_SITE else "proxy",
        )
        for code in range(1, 10)
    },
    "closed when connected": (sent(b"\x05\x00", CONNECTED, b""), "network"),
    "closed in the body": (sent(b"\x05\x00", CONNECTED, HEAD + b"01234"), "truncated"),
    # These end with the time limit.
    "silence": (lambda _: gevent.sleep(20), "timeout"),
    "silence instead of connected": (greeted(lambda _: gevent.sleep(20)), "timeout"),
}
SLOW = list(FAULTS_OF_A_PROXY)[-2:]


def through(serve, **limits):
    """Fetch through a proxy that calls *serve* with each connection."""

    def handle(client, _peer):
        try:
            serve(client)
        except OSError:
            pass
        finally:
            client.close()

    server = StreamServer(("127.0.0.1", 0), handle)
    server.start()
    proxy = f"socks5h://127.0.0.1:{server.server_port}"
    try:
        with CurlFetch(limits=Limits(**limits), allow_address=LOOPBACK) as fetch:
            return fetch(Request("http://site.test/", proxy=proxy)).body
    except FetchError as error:
        return error.kind
    finally:
        server.stop(timeout=0)


@pytest.mark.parametrize("name", FAULTS_OF_A_PROXY)
def test_each_fault_of_a_proxy_has_its_kind(name):
    serve, kind = FAULTS_OF_A_PROXY[name]

    assert through(serve, connect=0.4 if name in SLOW else 20) == kind


def test_a_name_that_does_not_exist_is_not_the_fault_of_the_proxy():
    with (
        SocksProxy() as proxy,
        CurlFetch(allow_address=LOOPBACK) as fetch,
        pytest.raises(FetchError) as caught,
    ):
        fetch(Request("http://no-such-host.invalid/", proxy=proxy.url("socks5")))

    assert caught.value.kind == "dns"


def test_a_slow_proxy_is_a_proxy():
    assert through(greeted(drip)) == b"0123456789"
