"""Browsers that are slow or gone."""

import pytest
from gevent import socket

from crawler.portal import web_server
from crawler.portal.web_server import WebServer


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(web_server, "_SILENCE", 0.05)

    def app(_environ, start):
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"here"]

    server = WebServer(("127.0.0.1", 0), app)
    server.start()
    yield server
    server.stop(timeout=1)


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX: "], ids=str)
def test_a_connection_that_is_silent_is_closed(server, said, caplog):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=120) as slow:
        slow.sendall(said)
        assert b"here" not in slow.recv(1 << 16)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=120) as quick:
        quick.sendall(b"GET / HTTP/1.0\r\n\r\n")
        text = b"".join(iter(lambda: quick.recv(1 << 16), b""))

    assert text.endswith(b"here")
    assert "Traceback" not in caplog.text
