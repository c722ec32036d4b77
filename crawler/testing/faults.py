"""
Replies of servers that misbehave, as pages for a LoopbackSite.

Write a Wire of your own for any other fault.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import cache
from itertools import chain, count, repeat

from ..data import Request
from .scripted_reply import End, Step, Wire
from .site import Reply

_PAGE = b"<html><body>" + b"all is well " * 100 + b"</body></html>"


def head(*fields: str, status: str = "200 OK") -> bytes:
    """Return the head of a reply, from lines such as ``content-length: 5``."""
    return "\r\n".join((f"HTTP/1.1 {status}", "content-type: text/html", *fields, "", "")).encode()


def _whole(body: bytes = _PAGE) -> bytes:
    return head(f"content-length: {len(body)}") + body


def silence() -> Wire:
    """Read the request and never answer."""
    return Wire(End.HANG)


def garbage() -> Wire:
    return Wire(b"\x00\x01 this is not HTTP \xff\r\n\r\n", End.CLOSE)


def reset(after: int = 0) -> Wire:
    """Reset the connection after the first *after* bytes of a whole reply."""
    return Wire(_whole()[:after], 0.05, End.RESET)


def truncated(body: bytes = _PAGE, missing: int = 10) -> Wire:
    """Close the connection *missing* bytes before the promised content-length."""
    return Wire(head(f"content-length: {len(body) + missing}") + body, End.CLOSE)


def truncated_chunks() -> Wire:
    """Close the connection before the last chunk."""
    return Wire(head("transfer-encoding: chunked") + b"5\r\nhello\r\n", End.CLOSE)


def broken_chunks() -> Wire:
    """Send a chunk whose size is not a number."""
    return Wire(
        head("transfer-encoding: chunked") + b"5\r\nhello\r\nzz\r\nworld\r\n0\r\n\r\n", End.CLOSE
    )


def drip(body: bytes = _PAGE, *, every: float = 0.01, size: int = 1) -> Wire:
    """Send the body in pieces of *size* bytes, one *every* so many seconds."""
    pieces = (body[at : at + size] for at in range(0, len(body), size))
    return Wire(head(f"content-length: {len(body)}"), tuple(_paused(pieces, every)))


def drip_headers(every: float = 0.01) -> Wire:
    """Send a header field *every* so many seconds, and never the body."""
    fields = (f"x-{number}: {number}\r\n".encode() for number in count())
    return Wire(b"HTTP/1.1 200 OK\r\n", _paused(fields, every))


def _paused(pieces: Iterable[bytes], every: float) -> Iterable[Step]:
    return chain.from_iterable((piece, every) for piece in pieces)


def endless_body() -> Wire:
    return Wire(head("transfer-encoding: chunked"), repeat(b"10000\r\n" + b"x" * 65536 + b"\r\n"))


def endless_extension() -> Wire:
    """Send a chunked body that never begins: the line before its first chunk has no end."""
    return Wire(head("transfer-encoding: chunked") + b"5;", repeat(b"x" * 65536))


def endless_headers() -> Wire:
    return Wire(b"HTTP/1.1 200 OK\r\n", repeat(b"x-more: " + b"x" * 1000 + b"\r\n"))


def endless_header_line() -> Wire:
    return Wire(b"HTTP/1.1 200 OK\r\nx-long: ", repeat(b"x" * 65536))


def many_headers(number: int = 100_000) -> Wire:
    """Send *number* small header fields before a whole reply."""
    return Wire(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n" * number, b"content-length: 2\r\n\r\nok")


def informational_flood() -> Wire:
    """Send 103 responses forever, and never the final one."""
    return Wire(repeat(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * 100))


def sized(length: str, body: bytes = b"hello") -> Wire:
    """Send *length* as the content-length, whatever the size of the body, and close a little later."""
    return Wire(head(f"content-length: {length}") + body, 0.02, End.CLOSE)


def chunked(raw: bytes, *fields: str) -> Wire:
    """Send *raw* as a chunked body, including its framing."""
    return Wire(head("transfer-encoding: chunked", *fields) + raw, End.CLOSE)


def status_line(line: str) -> Wire:
    return Wire(f"{line}\r\ncontent-length: 2\r\n\r\nok".encode(), End.CLOSE)


def smuggled(late: float = 0.0) -> Wire:
    """Send a second, unrequested reply *late* seconds after a complete one, and stay connected."""
    asked, unasked = _whole(), _whole(b"<title>not yours</title>")
    return Wire(asked, late, unasked) if late else Wire(asked + unasked)


def closing() -> Wire:
    """Send a reply that keeps the connection open, and close it anyway."""
    return Wire(_whole(), End.CLOSE)


def ever_new(request: Request) -> Reply:
    """Redirect to a new URL each time."""
    return Reply(302, {"location": f"{request.url}{'' if '?' in request.url else '?'}x"})


def coded(body: bytes, coding: str = "gzip") -> Reply:
    """Reply with *coding* as the content-encoding, whatever the encoding of *body*."""
    return Reply(headers={"content-encoding": coding}, body=body)


def truncated_gzip(missing: int = 20) -> Reply:
    """Cut off the end of the gzip stream; the content-length is that of the rest."""
    return coded(gzip.compress(_PAGE)[:-missing])


def corrupt_gzip() -> Reply:
    """Reply with a gzip stream that has a wrong checksum."""
    return coded(gzip.compress(_PAGE)[:-8] + bytes(8))


@cache
def gzip_bomb(size: int = 64 * 2**20) -> Reply:
    """Reply with a body that decodes to *size* bytes, about a thousand times its own size."""
    return coded(gzip.compress(bytes(size)))
