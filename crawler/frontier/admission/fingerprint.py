"""The fingerprint of a request: 16 bytes that stand for what it asks for."""

from __future__ import annotations

from collections.abc import Iterable

import mmh3

from ...data import Link, Request

_digest = mmh3.mmh3_x64_128_digest


def fingerprint(request: Request | Link, canonical: str) -> bytes:
    """Return 16 bytes that stand for what *request* asks for, at its *canonical* URL."""
    return fingerprint_of(canonical, request.method, request.body)


def fingerprint_of(
    canonical: str,
    method: str = "GET",
    body: bytes = b"",
    headers: Iterable[tuple[str, str]] = (),
) -> bytes:
    """
    Return 16 bytes that stand for a request; *headers* are those that make a difference.

    Each part is preceded by its length, so that different requests never give the same text.
    The case of header names does not count, nor does their order.
    """
    text = f"{method} {len(canonical)} {canonical}".encode("utf-8", "surrogatepass")
    if body or headers:
        text += _rest(body, headers)
    return _digest(text)


def _rest(body: bytes, headers: Iterable[tuple[str, str]]) -> bytes:
    fields = sorted((name.lower(), value) for name, value in headers)
    if not (body or fields):
        return b""
    texts = (text.encode("utf-8", "surrogatepass") for field in fields for text in field)
    return b"".join(b"%d %b" % (len(part), part) for part in (body, *texts))
