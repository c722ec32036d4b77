"""A server that speaks HTTP/2 over TLS, and can break its rules."""

import socket
import struct
from contextlib import suppress

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from gevent.pool import Pool
from gevent.server import StreamServer

from .certificates import server_tls

PLAIN = (("content-type", "text/plain"),)


class Stream:
    """One request; what a page uses to answer it."""

    def __init__(self, number, path, connection, client):
        self.number = number
        self.path = path
        self.connection = connection
        self._client = client

    def headers(self, *fields, status="200", end=False):
        self.connection.send_headers(
            self.number, [(":status", status), *(fields or PLAIN)], end_stream=end
        )
        self.flush()

    def data(self, data, end=False):
        self.connection.send_data(self.number, data, end_stream=end)
        self.flush()

    def answer(self, body, *fields):
        self.headers(*fields)
        self.data(body, end=True)

    def raw(self, *frames):
        """Send frames, or bytes, whatever the state of the connection."""
        self._client.sendall(b"".join(f if isinstance(f, bytes) else f.serialize() for f in frames))

    def flush(self):
        self._client.sendall(self.connection.data_to_send())

    def close(self, reset=False):
        if reset:
            linger = struct.pack("ii", 1, 0)
            self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._client.close()


class Http2Server:
    """
    Answers each request by a call of the function that *pages* has for its path, with a Stream.

    Without *pages*, the body is the path. `paths` has the requests, `connections` counts.
    """

    def __init__(self, pages=None):
        self.pages = pages
        self.paths = []
        self.connections = 0
        self._tls = server_tls()
        self._tls.set_alpn_protocols(["h2"])
        self._server = StreamServer(("127.0.0.1", 0), self._serve, spawn=Pool())

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(timeout=0)

    def url(self, path="/"):
        return f"https://127.0.0.1:{self._server.server_port}{path}"

    def _serve(self, client, _peer):
        self.connections += 1
        with (
            suppress(OSError, h2.exceptions.ProtocolError),
            self._tls.wrap_socket(client, server_side=True) as secured,
        ):
            self._speak(secured)

    def _speak(self, client):
        config = h2.config.H2Configuration(client_side=False, validate_outbound_headers=False)
        connection = h2.connection.H2Connection(config)
        connection.initiate_connection()
        client.sendall(connection.data_to_send())
        while data := client.recv(65536):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self._answer(event, connection, client)
            client.sendall(connection.data_to_send())

    def _answer(self, event, connection, client):
        path = dict(event.headers)[b":path"].decode()
        self.paths.append(path)
        stream = Stream(event.stream_id, path, connection, client)
        if self.pages is None:
            stream.answer(path.encode())
        else:
            self.pages[path](stream)
