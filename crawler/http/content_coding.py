"""
Decoding of bodies by Content-Encoding: the result is a whole body or an error.

Neither libcurl nor urllib3 notices a gzip, deflate or br stream that stops early, so
the fetchers receive bodies undecoded and decode them here. Sizes are in bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

from ..errors import FetchError

#: A body with more codings, or with more gzip streams, is an attack on our CPU time.
MAX_CODINGS = 4
MAX_MEMBERS = 100

_GZIP = 16 + zlib.MAX_WBITS
_ZLIB = zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS
_GZIP_MARK = b"\x1f\x8b"


@cache
def accept_encoding() -> str:
    """Return the value of Accept-Encoding; it includes br if the brotli package is installed."""
    return "gzip, deflate, br" if _brotli() else "gzip, deflate"


def decode(body: bytes, content_encoding: str, max_size: int, *, whole: bool = True) -> bytes:
    """
    Decode *body*, the last coding first; no step may yield more than *max_size* bytes.

    If the *whole* is not needed, decode what *body* has, whose end may be missing, up to that size.
    """
    for coding in reversed(_codings(content_encoding)):
        if body and coding != "identity":
            body = _decoder(coding)(body, max_size, whole=whole)
    return body if whole else body[:max_size]


def decode_archived(body: bytes, content_encoding: str, max_size: int) -> bytes:
    """
    Decode *body* from an archive, which may have been decoded before it was archived.

    Many archives keep the Content-Encoding of a body that they store decoded. So a body
    without the mark of gzip, and a body with an unknown coding, is returned unchanged.
    """
    for coding in reversed(_codings(content_encoding)):
        if body and _is_still_coded(body, coding):
            body = _decoder(coding)(body, max_size, whole=True)
    check_body_size(len(body), max_size)
    return body


def _codings(content_encoding: str) -> list[str]:
    codings = [name for part in content_encoding.lower().split(",") if (name := part.strip())]
    if len(codings) > MAX_CODINGS:
        raise FetchError("bad_encoding", f"{len(codings)} codings on one body")
    return codings


def _is_still_coded(body: bytes, coding: str) -> bool:
    if _DECODERS.get(coding) is _gunzip:
        return body.startswith(_GZIP_MARK)
    return coding in _DECODERS


def _decoder(coding: str) -> Callable[..., bytes]:
    decoder = _DECODERS.get(coding)
    if decoder is None:
        raise FetchError("bad_encoding", f"cannot decode {coding!r}")
    return decoder


def check_body_size(size: int, max_size: int) -> None:
    """Raise FetchError if *size* exceeds *max_size*."""
    if size > max_size:
        raise FetchError("too_large", f"the body is larger than {max_size} bytes")


def _is_enough(parts: list[bytes], max_size: int, *, whole: bool) -> bool:
    """Return whether no more is needed; raise FetchError if the whole is, and is too large."""
    size = sum(map(len, parts))
    if whole:
        check_body_size(size, max_size)
    return size >= max_size and not whole


def _gunzip(body: bytes, max_size: int, *, whole: bool) -> bytes:
    decoded, rest = _inflate(body, _GZIP, max_size, whole=whole)
    members = [decoded]
    while rest:
        if len(members) == MAX_MEMBERS:
            raise FetchError("bad_encoding", f"more than {MAX_MEMBERS} gzip streams in one body")
        decoded, rest = _inflate(rest, _GZIP, max_size, whole=whole)
        members.append(decoded)
        if _is_enough(members, max_size, whole=whole):
            break
    return b"".join(members)


def _undeflate(body: bytes, max_size: int, *, whole: bool) -> bytes:
    """Decode the zlib format, which the standard requires, or raw deflate, which many servers send."""
    is_zlib = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    decoded, rest = _inflate(body, _ZLIB if is_zlib else _RAW_DEFLATE, max_size, whole=whole)
    if rest:
        raise FetchError("bad_encoding", "bytes after the end of the deflate stream")
    return decoded


def _inflate(body: bytes, window: int, max_size: int, *, whole: bool) -> tuple[bytes, bytes]:
    """Decode the first stream of *body*; return its content and the bytes after it."""
    stream = zlib.decompressobj(window)
    try:
        decoded = stream.decompress(body, max_size + 1)
    except zlib.error as error:
        raise FetchError("bad_encoding", str(error)) from error
    if whole:
        check_body_size(len(decoded), max_size)
    if whole and not stream.eof:
        raise FetchError("truncated", "the compressed body stops early")
    return decoded, stream.unused_data


def _unbrotli(body: bytes, max_size: int, *, whole: bool) -> bytes:
    brotli = _brotli()
    if brotli is None:
        raise FetchError("bad_encoding", "cannot decode 'br': the brotli package is not installed")
    stream = brotli.Decompressor()
    decoded: list[bytes] = []
    try:
        while not stream.is_finished():
            decoded.append(stream.process(body, output_buffer_limit=max_size))
            # Of a stream that stops early, the package gives a part at each call.
            if not decoded[-1] or _is_enough(decoded, max_size, whole=whole):
                break
            body = b""
    except brotli.error as error:
        raise FetchError("bad_encoding", str(error)) from error
    if whole and not stream.is_finished():
        raise FetchError("truncated", "the compressed body stops early")
    return b"".join(decoded)


@cache
def _brotli() -> Any:
    """Return the brotli package if its version can stop a decompression bomb, otherwise None."""
    try:
        import brotli  # noqa: PLC0415 - slow to load, rarely needed
    except ImportError:
        return None
    return brotli if hasattr(brotli.Decompressor, "can_accept_more_data") else None


_DECODERS = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
}
