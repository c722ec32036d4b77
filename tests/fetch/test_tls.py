from datetime import UTC, datetime

import pytest
from gevent.server import StreamServer

from crawler import FetchError, Request

from .certificates import server_tls, write_authority


@pytest.fixture
def ca_file(tmp_path):
    return write_authority(tmp_path)


def test_a_site_of_a_trusted_authority_is_fetched(fetcher, serve, ca_file):
    site = serve({"/": "safe"}, tls=server_tls("127.0.0.1"))
    fetch = fetcher(ca_file=ca_file)

    assert site.url().startswith("https:")
    assert fetch(Request(site.url())).body == b"safe"
    assert fetch(Request(site.url())).body == b"safe"
    assert site.connections == 1


def test_an_unknown_authority_is_refused(fetch, serve):
    site = serve({"/": "safe?"}, tls=server_tls("127.0.0.1"))

    with pytest.raises(FetchError) as caught:
        fetch(Request(site.url()))

    assert caught.value.kind == "tls"
    assert not site.requests


def test_a_certificate_for_another_name_is_refused(fetcher, serve, ca_file):
    site = serve({"/": "safe?"}, tls=server_tls("elsewhere.test"))

    with pytest.raises(FetchError) as caught:
        fetcher(ca_file=ca_file)(Request(site.url()))

    assert caught.value.kind == "tls"


def test_an_expired_certificate_is_refused(fetcher, serve, ca_file):
    past = datetime(2020, 1, 1, tzinfo=UTC)
    site = serve({"/": "safe?"}, tls=server_tls("127.0.0.1", not_after=past))

    with pytest.raises(FetchError) as caught:
        fetcher(ca_file=ca_file)(Request(site.url()))

    assert caught.value.kind == "tls"


def test_a_server_without_tls_is_a_tls_failure(fetcher, ca_file, stack):
    server = StreamServer(
        ("127.0.0.1", 0), lambda sock, _: sock.sendall(b"220 mail.test ready\r\n")
    )
    server.start()
    stack.callback(server.stop)

    with pytest.raises(FetchError) as caught:
        fetcher(ca_file=ca_file)(Request(f"https://127.0.0.1:{server.server_port}/"))

    assert caught.value.kind == "tls"
