"""
Content codings undone, so that a body is whole or an error.

Neither libcurl nor urllib3 notices a gzip, deflate or br stream that stops early, so
the fetchers take bodies as they come and decode them here.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

from ..errors import FetchError
from ..fetch.limits import Limits

#: More codings on one body, or more gzip streams in one, are an attack on our time.
MAX_CODINGS = 4
MAX_MEMBERS = 100

_GZIP = 16 + zlib.MAX_WBITS
_ZLIB = zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


@cache
def accept_encoding() -> str:
    """Return the Accept-Encoding header: br is in it when the brotli package is there."""
    return "gzip, deflate, br" if _brotli() else "gzip, deflate"


def decode(body: bytes, content_encoding: str, limits: Limits) -> bytes:
    """Undo the codings of *body*, the last first, within *limits*."""
    codings = [name for part in content_encoding.lower().split(",") if (name := part.strip())]
    if len(codings) > MAX_CODINGS:
        raise FetchError("bad_encoding", f"{len(codings)} codings on one body")
    for coding in reversed(codings):
        if body and coding != "identity":
            body = _decoder(coding)(body, limits)
    return body


def _decoder(coding: str) -> Callable[[bytes, Limits], bytes]:
    decoder = _DECODERS.get(coding)
    if decoder is None:
        raise FetchError("bad_encoding", f"cannot decode {coding!r}")
    return decoder


def _gunzip(body: bytes, limits: Limits) -> bytes:
    decoded, rest = _inflate(body, _GZIP, limits)
    members = [decoded]
    while rest:
        if len(members) == MAX_MEMBERS:
            raise FetchError("bad_encoding", f"more than {MAX_MEMBERS} gzip streams in one body")
        decoded, rest = _inflate(rest, _GZIP, limits)
        members.append(decoded)
        limits.check_body(sum(map(len, members)))
    return b"".join(members)


def _undeflate(body: bytes, limits: Limits) -> bytes:
    """Decode zlib's format, as the standard says, or bare deflate, as many servers do."""
    is_zlib = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    decoded, rest = _inflate(body, _ZLIB if is_zlib else _RAW_DEFLATE, limits)
    if rest:
        raise FetchError("bad_encoding", "bytes after the end of the deflate stream")
    return decoded


def _inflate(body: bytes, window: int, limits: Limits) -> tuple[bytes, bytes]:
    """Decode one stream; return it and the bytes after it."""
    stream = zlib.decompressobj(window)
    try:
        decoded = stream.decompress(body, limits.body + 1)
    except zlib.error as error:
        raise FetchError("bad_encoding", str(error)) from error
    limits.check_body(len(decoded))
    if not stream.eof:
        raise FetchError("truncated", "the compressed body stops early")
    return decoded, stream.unused_data


def _unbrotli(body: bytes, limits: Limits) -> bytes:
    brotli = _brotli()
    if brotli is None:
        raise FetchError("bad_encoding", "cannot decode 'br': the brotli package is not installed")
    stream = brotli.Decompressor()
    decoded: list[bytes] = []
    try:
        while body or not stream.can_accept_more_data():
            decoded.append(stream.process(body, output_buffer_limit=limits.body))
            body = b""
            limits.check_body(sum(map(len, decoded)))
    except brotli.error as error:
        raise FetchError("bad_encoding", str(error)) from error
    if not stream.is_finished():
        raise FetchError("truncated", "the compressed body stops early")
    return b"".join(decoded)


@cache
def _brotli() -> Any:
    """Return the brotli package, if there is one that can stop a decompression bomb."""
    try:
        import brotli  # noqa: PLC0415 - slow to load, and seldom needed
    except ImportError:
        return None
    return brotli if hasattr(brotli.Decompressor, "can_accept_more_data") else None


_DECODERS = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
}
