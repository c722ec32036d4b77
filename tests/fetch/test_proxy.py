import gevent
import gevent.ssl
import pytest
import trustme
from gevent import socket
from gevent.pool import Pool
from gevent.server import StreamServer

from crawler import FetchError, Request

from .conftest import LOOPBACK


class Proxy:
    """A proxy in forty lines: forwards plain requests, opens tunnels, records both."""

    def __init__(self, refusal=b""):
        self.heads = []
        self._refusal = refusal
        self._server = StreamServer(("127.0.0.1", 0), self._serve, spawn=Pool())

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(timeout=0)

    def url(self, user=""):
        return f"http://{user}127.0.0.1:{self._server.server_port}"

    def _serve(self, client, _peer):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65536)
        self.heads.append(head.decode())
        if self._refusal:
            client.sendall(self._refusal)
            return
        method, target, _ = head.decode().split(" ", 2)
        host, _, port = target.removeprefix("http://").partition("/")[0].partition(":")
        with socket.create_connection((host, int(port))) as server:
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connected\r\nx-proxy: 1\r\n\r\n")
            else:
                server.sendall(
                    head.replace(target.encode(), b"/" + target.split("/", 3)[3].encode(), 1)
                )
            gevent.joinall(
                [gevent.spawn(_pump, client, server), gevent.spawn(_pump, server, client)], count=1
            )


def _pump(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)


def failure(fetch, *args, **options):
    with pytest.raises(FetchError) as caught:
        fetch(Request(*args, **options))
    return caught.value


def test_a_page_comes_through_the_proxy_of_its_request(fetch, serve, stack):
    site, proxy = serve({"/a": "through"}), stack.enter_context(Proxy())

    response = fetch(Request(site.url("/a"), proxy=proxy.url()))
    direct = fetch(Request(site.url("/a")))

    assert response.body == direct.body == b"through"
    assert len(proxy.heads) == 1
    assert proxy.heads[0].startswith(f"GET {site.url('/a')} ")


def test_a_tunnel_shows_the_proxy_nothing_of_the_request(fetcher, serve, stack, tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    tls = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    site, proxy = serve({"/": "through"}, tls=tls), stack.enter_context(Proxy())

    response = fetcher(ca_file=tmp_path / "ca.pem")(
        Request(
            site.url(), proxy=proxy.url("user:secret@"), headers={"X-Page": "1"}, cookies={"c": "1"}
        )
    )

    assert response.body == b"through"
    assert "x-proxy" not in response.headers
    [head] = proxy.heads
    assert head.startswith("CONNECT ")
    assert "X-Page" not in head
    assert "Cookie" not in head
    assert "Proxy-Authorization: Basic" in head
    assert "proxy-authorization" not in site.requests[0].headers


REFUSAL = b"HTTP/1.1 407 No\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_is_a_proxy_failure(fetch, stack, scheme):
    proxy = stack.enter_context(Proxy(REFUSAL))

    error = failure(fetch, f"{scheme}://127.0.0.1:1/", proxy=proxy.url("user:secret@"))

    assert error.kind == "proxy"
    assert "secret" not in str(error)


def test_a_dead_proxy_is_a_proxy_failure(fetch):
    assert failure(fetch, "http://127.0.0.1:1/", proxy="http://127.0.0.1:1").kind == "proxy"
    assert failure(fetch, "http://127.0.0.1:1/", proxy="http://no-such.invalid:1").kind == "proxy"


def test_proxies_of_the_environment_are_ignored(serve, monkeypatch):
    from crawler import CurlFetch

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    site = serve({"/": "direct"})

    with CurlFetch(allow_address=LOOPBACK) as fetch:
        assert fetch(Request(site.url())).body == b"direct"


class SocksProxy:
    """SOCKS5 without authentication: one greeting, one CONNECT by name or address, then a tunnel."""

    def __init__(self):
        self.targets = []
        self._server = StreamServer(("127.0.0.1", 0), self._serve, spawn=Pool())

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(timeout=0)

    def url(self, scheme):
        return f"{scheme}://127.0.0.1:{self._server.server_port}"

    def _serve(self, client, _peer):
        stream = client.makefile("rb")
        _, methods = stream.read(2)
        stream.read(methods)
        client.sendall(b"\x05\x00")
        _, command, _, kind = stream.read(4)
        assert command == 1
        if kind == 1:
            host = socket.inet_ntoa(stream.read(4))
        else:
            host = stream.read(stream.read(1)[0]).decode()
        port = int.from_bytes(stream.read(2), "big")
        self.targets.append((host, port))
        with socket.create_connection((host, port)) as server:
            client.sendall(b"\x05\x00\x00\x01" + bytes(6))
            gevent.joinall(
                [gevent.spawn(_pump, client, server), gevent.spawn(_pump, server, client)], count=1
            )


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_curl_goes_through_a_socks_proxy(serve, scheme):
    from crawler import CurlFetch

    site = serve({"/": "by socks"})
    with SocksProxy() as proxy, CurlFetch() as fetch, gevent.Timeout(20):
        response = fetch(Request(site.url(), proxy=proxy.url(scheme)))

    assert response.body == b"by socks"
    assert proxy.targets == [("127.0.0.1", site.port)]
