import gevent
import pytest

from crawler import FetchError, Request

from .certificates import server_tls, write_authority
from .conftest import LOOPBACK
from .proxies import Proxy, SocksProxy


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
    site, proxy = serve({"/": "through"}, tls=server_tls()), stack.enter_context(Proxy())

    response = fetcher(ca_file=write_authority(tmp_path))(
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


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_curl_goes_through_a_socks_proxy(serve, scheme):
    from crawler import CurlFetch

    site = serve({"/": "by socks"})
    with SocksProxy() as proxy, CurlFetch() as fetch, gevent.Timeout(120):
        response = fetch(Request(site.url(), proxy=proxy.url(scheme)))

    assert response.body == b"by socks"
    assert proxy.targets == [("127.0.0.1", site.port)]
