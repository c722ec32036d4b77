"""HTTP/2, against a small server of its own."""

import gevent
import gevent.ssl
import h2.config
import h2.connection
import h2.events
import pytest
import trustme
from gevent.pool import Pool
from gevent.server import StreamServer

from crawler import CurlFetch, Request
from crawler.fetch import any_address


class Http2Server:
    """Answers every stream with its path, and counts connections."""

    def __init__(self, tls):
        tls.set_alpn_protocols(["h2"])
        self.connections = 0
        self.paths = []
        self._server = StreamServer(("127.0.0.1", 0), self._serve, spawn=Pool(), ssl_context=tls)

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(timeout=0)

    def url(self, path):
        return f"https://127.0.0.1:{self._server.server_port}{path}"

    def _serve(self, client, _peer):
        self.connections += 1
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        client.sendall(connection.data_to_send())
        while data := client.recv(65536):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self._answer(connection, event)
            client.sendall(connection.data_to_send())

    def _answer(self, connection, event):
        headers = {bytes(k).decode() if isinstance(k, bytes) else k: v for k, v in event.headers}
        path = headers[":path"]
        body = path if isinstance(path, bytes) else path.encode()
        self.paths.append(body.decode())
        fields = [(":status", "200"), ("content-type", "text/plain"), ("x-two", "2")]
        connection.send_headers(event.stream_id, fields)
        connection.send_data(event.stream_id, body, end_stream=True)


@pytest.fixture
def server(tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    tls = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    with Http2Server(tls) as server:
        yield server


def test_http2_is_spoken_where_the_server_speaks_it(server, tmp_path):
    with (
        CurlFetch(ca_file=tmp_path / "ca.pem", allow_address=any_address) as fetch,
        gevent.Timeout(20),
    ):
        first = fetch(Request(server.url("/first")))
        jobs = [gevent.spawn(fetch, Request(server.url(f"/{n}"))) for n in range(30)]
        gevent.joinall(jobs, raise_error=True)

    assert (first.status, first.body, first.headers["X-Two"]) == (200, b"/first", "2")
    assert [job.value.body for job in jobs] == [f"/{n}".encode() for n in range(30)]
    assert len(server.paths) == 31
    assert server.connections < 31, "streams share connections"
