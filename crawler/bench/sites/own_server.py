"""
Our own server of a site, in a process and on a core of its own.

One epoll loop joins pages from prepared pieces and counts them. It is cheap enough not to limit a
benchmark. It supports only GET over persistent connections.
"""

from __future__ import annotations

import gzip
import json
import select
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .site import Generated, from_argument

_END = b"\r\n\r\n"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n%bContent-Length: %d\r\n\r\n"
_ENCODING = b"Content-Encoding: gzip\r\n"
_MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"


class Connection:
    """A socket, the bytes of an incomplete request, and the bytes still to send."""

    __slots__ = ("received", "sock", "unsent")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.received = b""
        self.unsent = b""


class StaticServer:
    """Serves a site and counts the requested pages."""

    def __init__(self, shape: Generated) -> None:
        self._listeners = {listener.fileno(): listener for listener in _listeners()}
        self.shape = replace(shape, port=_port(next(iter(self._listeners.values()))))
        self.reset()
        self._connections: dict[int, Connection] = {}
        self._epoll = select.epoll()
        for descriptor in self._listeners:
            self._epoll.register(descriptor, select.EPOLLIN)

    def reset(self) -> None:
        self.requests = 0
        self._seen = bytearray(self.shape.pages)

    @property
    def pages(self) -> int:
        """The number of different pages that were requested."""
        return sum(self._seen)

    def serve(self, control: int) -> None:
        """Serve until *control*, the descriptor of stdin, ends; a line prints and resets the counts."""
        self._epoll.register(control, select.EPOLLIN)
        while True:
            for descriptor, events in self._epoll.poll():
                if descriptor == control:
                    if not sys.stdin.readline():
                        return
                    self._print_counts()
                elif descriptor in self._listeners:
                    self._accept(self._listeners[descriptor])
                else:
                    self._continue(descriptor, events)

    def _print_counts(self) -> None:
        """Print the counts since the last time, and reset them."""
        print(json.dumps({"pages": self.pages, "requests": self.requests}), flush=True)
        self.reset()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(BlockingIOError):
            while True:
                sock, _ = listener.accept()
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._connections[sock.fileno()] = Connection(sock)
                self._epoll.register(sock, select.EPOLLIN)

    def _continue(self, descriptor: int, events: int) -> None:
        connection = self._connections[descriptor]
        try:
            if events & select.EPOLLOUT:
                self._send(connection, connection.unsent)
            else:
                self._receive(connection)
        except OSError:
            self._close(connection)

    def _receive(self, connection: Connection) -> None:
        received = connection.sock.recv(65536)
        if not received:
            self._close(connection)
            return
        received = connection.received + received
        *requests, connection.received = received.split(_END)
        if requests:
            self._send(connection, b"".join(map(self._answer, requests)))

    def _answer(self, request: bytes) -> bytes:
        number = self.shape.number(request.split(b" ", 2)[1].decode("latin-1"))
        if number is None:
            return _MISSING
        self.requests += 1
        self._seen[number] = 1
        body, encoding = self.shape.page(number), b""
        if self.shape.compressed and _accepts_gzip(request):
            body, encoding = gzip.compress(body, 1), _ENCODING
        return _HEAD % (encoding, len(body)) + body

    def _send(self, connection: Connection, data: bytes) -> None:
        try:
            sent = connection.sock.send(data)
        except BlockingIOError:
            sent = 0
        waits = bool(connection.unsent)
        connection.unsent = data[sent:]
        if bool(connection.unsent) != waits:
            wanted = select.EPOLLOUT if connection.unsent else select.EPOLLIN
            self._epoll.modify(connection.sock, wanted)

    def _close(self, connection: Connection) -> None:
        del self._connections[connection.sock.fileno()]
        connection.sock.close()


def _listeners() -> Iterator[socket.socket]:
    """Listen on 127.0.0.1, and on the same port of ::1 if it exists: host names resolve to both."""
    first = socket.create_server(("127.0.0.1", 0), backlog=4096)
    first.setblocking(False)
    yield first
    with suppress(OSError):
        second = socket.create_server(("::1", _port(first)), family=socket.AF_INET6, backlog=4096)
        second.setblocking(False)
        yield second


def _port(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _accepts_gzip(request: bytes) -> bool:
    fields = request.lower().partition(b"\r\naccept-encoding:")[2]
    return b"gzip" in fields.partition(b"\r\n")[0]


def main(site: dict[str, Any]) -> None:
    """Print the port, then serve until standard input ends."""
    server = StaticServer(from_argument(site))
    print(server.shape.port, flush=True)
    server.serve(sys.stdin.fileno())
