"""Handle: an easy handle of libcurl, which turns a request into a response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any, TypeAlias

import pycurl

from ...data import BODY_PREFIX, Request, Response
from ...errors import FetchError
from ...headers import Headers
from ...http import content_coding as coding
from ..address_guard import AllowAddress
from ..body_prefix import BodyPrefix
from ..file_receiver import FileReceiver
from ..limits import Limits
from .guarded_sockets import GuardedSockets
from .kept_connections import KeptConnections
from .options import milliseconds

#: The error code of a failed transfer and libcurl's message.
Failure: TypeAlias = "tuple[int, str]"

_HEAD_ENDS = b"\r\n\r\n"
_BLANK = (b"\r\n", b"\n")
_CODED = b"content-encoding"
_STATUS = pycurl.RESPONSE_CODE
#: Seconds from the start of a transfer until its request was sent, and until its end.
_SENT, _ENDED = pycurl.PRETRANSFER_TIME, pycurl.TOTAL_TIME
#: The same, until the first byte of the reply.
_ANSWERED = pycurl.STARTTRANSFER_TIME
#: The shortest time that an exchange takes, in seconds.
_LEAST = 1e-6
#: The errors that concern a connection, and so all its transfers.
_BROKEN = frozenset({pycurl.E_HTTP2, pycurl.E_RECV_ERROR, pycurl.E_SEND_ERROR})
_SEND, _DO_NOT_SEND = pycurl.PREREQFUNC_OK, pycurl.PREREQFUNC_ABORT
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_REPEATABLE = frozenset({"GET", "PUT", "DELETE", "OPTIONS", "TRACE"})
_WHOLE: frozenset[str] = frozenset()
_CUT = frozenset({"truncated"})
_PLAIN = Request("http://plain.invalid/")


class Handle:
    """
    An easy handle, reused for many requests: only options that differ from the last are set.

    libcurl adds header lines to a list and the body to a buffer, without a call of a Python
    function. It aborts a body that is too large; the size of the headers is checked at the end
    (libcurl reads at most 300 KiB of them).
    """

    def __init__(
        self,
        options: Mapping[int, Any],
        limits: Limits,
        allow_address: AllowAddress,
        kept: KeptConnections,
    ) -> None:
        self.easy = pycurl.Curl()
        self.sockets = GuardedSockets(allow_address, _PLAIN)
        #: The kept connection was not fit for a request, or was closed after it was sent.
        self.is_unfit = self.is_lost = False
        #: The seconds for which the reply may have waited for us before libcurl read its end.
        self.lag = 0.0
        #: When a prolonged transfer ends at the latest; 0 if it was not prolonged.
        self.ends_at = 0.0
        self._added = 0.0
        self._proxy = _PLAIN.proxy
        self._options = options
        self.limits = limits
        self._kept = kept
        #: What is needed of the body, if that is not the whole.
        self.prefix: BodyPrefix | None = None
        #: What takes a body that is to be saved.
        self.receiver: FileReceiver | None = None
        self._lines: list[bytes] = []
        self._body = BytesIO()  # not a list: a server may send a body in millions of pieces
        self._configure()

    def prepare(self, request: Request) -> None:
        self._request = self.sockets.request = request
        self._is_sent = False
        self.easy.setopt(pycurl.URL, request.url)
        if request.headers is not self._headers:
            self._set_headers(request.headers)
        if request.cookies is not self._cookies:
            self._set_cookies(request.cookies)
        if request.timeout != self._timeout:
            self._set_timeout(request.timeout)
        if request.proxy != self._proxy:
            self._proxy = request.proxy
            self.easy.setopt(pycurl.PROXY, request.proxy or "")
        if request.body or request.method != "GET":
            self._set_method(request)
        if request.attempts:
            self.connect_anew()
        if request.meta and BODY_PREFIX in request.meta:
            self._special = True
            self.prefix = BodyPrefix(request.meta[BODY_PREFIX])
            self.easy.setopt(pycurl.WRITEFUNCTION, self.prefix.writer(self._body.write))
            self.easy.setopt(pycurl.MAXFILESIZE_LARGE, 0)
        if request.save_to is not None:
            self._receive_to_file(request)

    def _receive_to_file(self, request: Request) -> None:
        self._special = True
        self.receiver = FileReceiver(request, self.limits, self._lines, self._body.write)
        self.easy.setopt(pycurl.WRITEFUNCTION, self.receiver.write)
        self.easy.setopt(pycurl.MAXFILESIZE_LARGE, self.limits.file)
        if request.timeout is None:
            self._set_timeout(self.limits.file_total)

    def connect_anew(self) -> None:
        """Use no kept connection for the next transfer."""
        self._special = True
        self.is_unfit = False
        self.easy.setopt(pycurl.FRESH_CONNECT, 1)

    def prolong(self, seconds: float, now: float) -> None:
        """Add *seconds* to the limits of the running transfer."""
        self._special = True
        self._added += seconds
        total = (self._timeout or self.limits.total) + self._added
        self.ends_at = now + total
        self.easy.setopt(pycurl.TIMEOUT_MS, milliseconds(total))
        self.easy.setopt(pycurl.CONNECTTIMEOUT_MS, milliseconds(self.limits.connect + self._added))
        self.easy.setopt(pycurl.LOW_SPEED_TIME, round(self.limits.stall + self._added) + 1)

    def note_connection(self, failure: Failure | None) -> None:
        """Note the connection that the transfer has made, or broken, before it is removed."""
        if self._is_sent and (self.sockets.opened or failure is not None):
            is_broken = failure is not None and failure[0] in _BROKEN
            self._kept.add(self.easy, is_broken=is_broken)

    def set_addresses(self, entries: list[str]) -> None:
        """Add *entries* to libcurl's cache of names when the transfer begins."""
        if entries:
            self._special = True
            self.easy.setopt(pycurl.RESOLVE, entries)

    def forget_addresses(self, seconds: int) -> None:
        """Remove addresses older than *seconds* from libcurl's cache after this transfer."""
        self._special = True
        self.easy.setopt(pycurl.DNS_CACHE_TIMEOUT, seconds)

    def response(self) -> Response:
        """Return the response of the finished transfer."""
        lines, request, easy = self._lines, self._request, self.easy
        head = b"".join(lines)
        size = len(head)
        if head.find(_HEAD_ENDS) != size - 4 or size > self.limits.headers:
            self.limits.check_headers(size)
            head = _final_head(lines)
        headers = Headers(head)
        body, flags = self._body.getvalue(), _WHOLE
        if self.prefix is not None:
            body = self.prefix.decoded(body, headers.get("content-encoding", ""))
            flags = _CUT if self.prefix.is_cut else _WHOLE
        elif body and head.lower().find(_CODED) >= 0:  # "in" is slower: it raises inside
            body = coding.decode(body, headers.get("content-encoding", ""), self.limits.body)
        status, saved, ended = easy.getinfo(_STATUS), None, easy.getinfo(_ENDED)
        if self.receiver is not None:
            ended = easy.getinfo(_ANSWERED)
            saved = self.receiver.save(status, headers)
        elapsed = max(ended - easy.getinfo(_SENT) - self.lag, _LEAST)
        return Response(request.url, status, headers, body, request, elapsed, flags, (), saved)

    @property
    def header_size(self) -> int:
        return sum(map(len, self._lines))

    @property
    def body_size(self) -> int:
        """How many bytes of the body have been received."""
        return self._body.tell()

    @property
    def has_head(self) -> bool:
        return any(line in _BLANK for line in self._lines)

    def clear(self) -> None:
        """Reset the handle after an exchange, so that it can be reused."""
        self._lines.clear()
        self._body.seek(0)
        self._body.truncate()
        if self.sockets.opened:
            self.sockets.blocked_address = ""
            self.sockets.close()
        if self._special:
            self.easy.reset()
            self._configure()
        self._request = self.sockets.request = _PLAIN

    def close(self) -> None:
        # The error that ended the transfer keeps the handle alive, through its traceback.
        self._lines.clear()
        if self.receiver is not None:
            self.receiver.discard()
        self.easy.close()
        self._body.close()
        self.sockets.close()

    def _configure(self) -> None:
        for option, value in self._options.items():
            self.easy.setopt(option, value)
        self.easy.setopt(pycurl.HEADERFUNCTION, self._lines.append)
        self.easy.setopt(pycurl.WRITEFUNCTION, self._body.write)
        self.easy.setopt(pycurl.OPENSOCKETFUNCTION, self.sockets.open)
        self.easy.setopt(pycurl.PREREQFUNCTION, self._before_request)
        self._request = self.sockets.request = _PLAIN
        self.prefix = None
        self.receiver = None
        self._is_sent = False
        self._headers = _PLAIN.headers
        self._cookies = _PLAIN.cookies
        self._timeout = _PLAIN.timeout
        self._proxy = _PLAIN.proxy
        self._added = self.ends_at = 0.0
        self._special = False

    def _set_headers(self, headers: Mapping[str, str], *suppressed: bytes) -> None:
        """Set the fields to send; *suppressed* are lines that stop libcurl from adding fields."""
        self._headers = headers
        lines = [*_header_lines(headers), *suppressed]
        if lines:
            self.easy.setopt(pycurl.HTTPHEADER, lines)
        else:
            self.easy.unsetopt(pycurl.HTTPHEADER)

    def _set_cookies(self, cookies: Mapping[str, str]) -> None:
        self._cookies = cookies
        if cookies:
            pairs = "; ".join(f"{name}={value}" for name, value in cookies.items())
            self.easy.setopt(pycurl.COOKIE, pairs.encode())
        else:
            self.easy.unsetopt(pycurl.COOKIE)

    def _set_timeout(self, timeout: float | None) -> None:
        self._timeout = timeout
        self.easy.setopt(pycurl.TIMEOUT_MS, milliseconds(timeout or self.limits.total))

    def _set_method(self, request: Request) -> None:
        self._special = True
        if request.method == "HEAD":
            self.easy.setopt(pycurl.NOBODY, 1)
            return
        self.easy.setopt(pycurl.CUSTOMREQUEST, request.method)
        if request.method not in _REPEATABLE:
            # If a kept connection ends now, nobody can tell whether the request has arrived.
            self.connect_anew()
        if request.body or request.method in _WITH_BODY:
            typed = "content-type" in map(str.lower, request.headers)
            suppressed = [b"Expect:"] if typed else [b"Expect:", b"Content-Type:"]
            self._set_headers(request.headers, *suppressed)
            self.easy.setopt(pycurl.POSTFIELDS, request.body)

    def _before_request(self, *connection: Any) -> Any:
        """
        Refuse to send on a kept connection that is not fit, and to send a second time.

        A kept connection was allowed to another request, which may trust more hosts than this.

        libcurl sends again, at once, if a kept connection ends without a reply. When a request
        may be sent again is not for this client to decide, but for those who know the host's
        delay.
        """
        if self._is_sent and not self._lines:
            self.is_lost = True
            return _DO_NOT_SEND
        if not self.sockets.opened:
            ip, _, port, _ = connection
            self.is_unfit = not self._kept.is_fit(connection)
            if self.is_unfit or self.sockets.is_blocked(ip, port):
                return _DO_NOT_SEND
        self._is_sent = True
        return _SEND


def _header_lines(headers: Mapping[str, str]) -> Iterable[bytes]:
    """Return fields in the syntax of libcurl: a field without a value ends in a semicolon."""
    fields = headers.fields if isinstance(headers, Headers) else headers.items()
    for name, value in fields:
        yield f"{name}: {value}".encode() if value.strip() else f"{name};".encode()


def _final_head(lines: Iterable[bytes]) -> bytes:
    """
    Return the head of the final reply, without 1xx replies before and trailers after it.

    libcurl accepts a connection that ends before the headers do; here it is an error.
    """
    head: list[bytes] = []
    ended = True
    for line in lines:
        if line in _BLANK:
            ended = True
        elif not ended:
            head.append(line)
        elif line.startswith(b"HTTP/"):
            head = []
            ended = False
    if not ended:
        raise FetchError("truncated", "the connection ended before the headers did")
    return b"".join(head)
