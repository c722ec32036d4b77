"""A real HTTP/1.1 server on the loopback interface."""

from __future__ import annotations

import gzip
import http
import socket
import ssl
import struct
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import gevent
from gevent.monkey import get_original
from gevent.pool import Pool
from gevent.server import StreamServer

from ..data import Request
from ..headers import Headers
from .scripted_reply import End, Wire
from .site import Page, Reply, called, find_page, reply_of

_select = get_original("select", "select")
_BLANK = b"\r\n\r\n"
_STATUSES = frozenset(map(int, http.HTTPStatus))


@dataclass(frozen=True)
class Hit:
    """A request that arrived *at* a time of time.monotonic(), from *peer*, on *address*."""

    head: bytes = field(repr=False)
    body: bytes
    at: float
    peer: tuple[str, int]
    address: str
    _connection: Any = field(repr=False, compare=False)

    @property
    def is_abandoned(self) -> bool:
        """Whether the client has closed the connection, although it may not have an answer yet."""
        number = self._connection.fileno()
        return number < 0 or bool(_select([number], [], [], 0)[0])

    @cached_property
    def method(self) -> str:
        return self._words[0]

    @cached_property
    def path(self) -> str:
        """The request target: the path with its query."""
        return self._words[1]

    @cached_property
    def headers(self) -> Headers:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return Headers(
            (name, value.strip()) for name, _, value in (line.partition(":") for line in lines)
        )

    @property
    def _words(self) -> list[str]:
        return self.head.partition(b"\r\n")[0].decode("latin-1").split(" ")


class LoopbackSite:
    """
    Serve *pages* on loopback *addresses*, with the same port on all of them.

    Pages are the same as for a Site, plus Wire scripts and those in `faults`. A page that is an
    exception, or raises a ConnectionError, resets the connection. A page that raises another
    exception is answered with 500 and its text, and its traceback is written to stderr.
    With *tls* (a gevent.ssl.SSLContext) the site uses https; with *gzip* it compresses for
    clients that accept it. Connections are kept alive.
    Used as a proxy, it is the whole web: the keys of such pages are URLs, such as "http://a.test/".
    `requests` lists the requests received, and `connections` counts the connections.

    >>> with LoopbackSite({"/": "<h1>Hello</h1>"}) as site:
    ...     fetch(Request(site.url("/"))).text
    '<h1>Hello</h1>'
    """

    def __init__(
        self,
        pages: Mapping[str, Page],
        *,
        addresses: Sequence[str] = ("127.0.0.1",),
        tls: ssl.SSLContext | None = None,
        gzip: bool = False,
    ) -> None:
        self.pages = pages
        self.addresses = tuple(addresses)
        self.port = 0
        self.requests: list[Hit] = []
        self.connections = 0
        self._scheme = "https" if tls else "http"
        self._options: dict[str, Any] = {"ssl_context": tls} if tls else {}
        self._gzip = gzip
        self._servers: list[StreamServer] = []
        self._rendered: dict[tuple[str | bytes, bool], bytes] = {}

    def url(self, path: str = "/", address: str = "") -> str:
        return f"{self._scheme}://{address or self.addresses[0]}:{self.port}{path}"

    def start(self) -> Self:
        for address in self.addresses:
            server = StreamServer(
                (address, self.port), self._serve, backlog=1024, spawn=Pool(), **self._options
            )
            server.start()
            self.port = server.server_port or 0
            self._servers.append(server)
        return self

    def stop(self) -> None:
        while self._servers:
            self._servers.pop().stop(timeout=0)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = self.url() if self._servers else "stopped"
        return f"<LoopbackSite {state}, {len(self.requests)} requests>"

    def _serve(self, sock: Any, peer: tuple[str, int]) -> None:
        self.connections += 1
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address = sock.getsockname()[0]
        buffered = b""
        try:
            while True:
                head, buffered = _read_head(sock, buffered)
                body, buffered = _read_body(sock, head, buffered)
                hit = Hit(head, body, time.monotonic(), peer, address, sock)
                self.requests.append(hit)
                if not self._answer(sock, hit):
                    return
        except OSError:
            pass
        finally:
            sock.close()

    def _answer(self, sock: Any, hit: Hit) -> bool:
        """Answer *hit*; return whether the connection can be used again."""
        page = find_page(self.pages, hit.path)
        gzipped = self._gzip and "gzip" in hit.headers.get("accept-encoding", "")
        if hit.method == "GET" and isinstance(page, str | bytes):
            sock.sendall(self._render_once(page, gzipped=gzipped))
            return True
        reply = self._reply(page, hit)
        if isinstance(reply, Wire):
            return _play(sock, reply)
        gevent.sleep(reply.delay)
        sock.sendall(_render(reply, gzipped=gzipped, bodiless=hit.method == "HEAD"))
        return True

    def _reply(self, page: Page, hit: Hit) -> Reply | Wire:
        request = self._request(hit)
        try:
            page = called(page, request)
        except ConnectionError:
            return Wire(End.RESET)
        except Exception as error:
            traceback.print_exc()
            return Reply(500, {"content-type": "text/plain"}, f"{type(error).__name__}: {error}")
        try:
            return reply_of(page, request)
        except Exception:
            return Wire(End.RESET)

    def _render_once(self, page: str | bytes, *, gzipped: bool) -> bytes:
        rendered = self._rendered.get((page, gzipped))
        if rendered is None:
            rendered = self._rendered[page, gzipped] = _render(Reply(body=page), gzipped=gzipped)
        return rendered

    def _request(self, hit: Hit) -> Request:
        is_proxied = hit.path.startswith("http://")
        url = hit.path if is_proxied else self.url(hit.path, hit.address)
        return Request(url, hit.method, headers=hit.headers, body=hit.body)


def _read_head(sock: Any, buffered: bytes) -> tuple[bytes, bytes]:
    while _BLANK not in buffered:
        buffered += _received(sock)
    head, _, rest = buffered.partition(_BLANK)
    return head, rest


def _read_body(sock: Any, head: bytes, buffered: bytes) -> tuple[bytes, bytes]:
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    length = int(rest.partition(b"\r\n")[0]) if found else 0
    while len(buffered) < length:
        buffered += _received(sock)
    return buffered[:length], buffered[length:]


def _received(sock: Any) -> bytes:
    data: bytes = sock.recv(65536)
    if not data:
        raise ConnectionError("the client has left")
    return data


def _render(reply: Reply, *, gzipped: bool = False, bodiless: bool = False) -> bytes:
    body, fields = reply.content, list(reply.fields.fields)
    names = {name.lower() for name, _ in fields}
    if gzipped and body and "content-encoding" not in names:
        body = gzip.compress(body)
        fields.append(("content-encoding", "gzip"))
    if reply.status not in {204, 304} and "content-length" not in names:
        fields.append(("content-length", str(len(body))))
    reason = http.HTTPStatus(reply.status).phrase if reply.status in _STATUSES else ""
    lines = (f"{name}: {value}\r\n" for name, value in fields)
    head = f"HTTP/1.1 {reply.status} {reason}\r\n{''.join(lines)}\r\n"
    return head.encode("latin-1") + (b"" if bodiless else body)


def _play(sock: Any, script: Wire) -> bool:
    """Perform *script*; return whether the connection is still open."""
    for step in script:
        if isinstance(step, bytes):
            sock.sendall(step)
        elif not isinstance(step, End):
            gevent.sleep(step)
        else:
            if step is End.RESET:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            while step is End.HANG and sock.recv(65536):
                pass
            return False
    return True
