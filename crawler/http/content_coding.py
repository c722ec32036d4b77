"""
Decoding of bodies by Content-Encoding: the result is a whole body or an error.

Neither libcurl nor urllib3 notices a gzip, deflate or br stream that stops early, so
the fetchers receive bodies undecoded and decode them here. Sizes are in bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable, Iterator
from functools import cache
from itertools import chain
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
    pieces = decoded([body], content_encoding, max_size, at_once=max_size + 1, whole=whole)
    content = b"".join(pieces)
    return content if whole else content[:max_size]


def decoded(
    pieces: Iterable[bytes],
    content_encoding: str,
    max_size: int,
    *,
    at_once: int,
    whole: bool = True,
) -> Iterable[bytes]:
    """
    Decode a body that comes in *pieces*, as decode() does; yield about *at_once* bytes at a time.

    Only at the end it is known whether the body was whole. The brotli package may give 64 KiB more
    at a time than it is asked for.
    """
    for coding in reversed(_codings(content_encoding)):
        if coding != "identity":
            step = _decode_step(coding, pieces, at_once, whole=whole)
            pieces = _limited(step, max_size, whole=whole)
    return pieces


def decode_archived(body: bytes, content_encoding: str, max_size: int) -> bytes:
    """
    Decode *body* from an archive, which may have been decoded before it was archived.

    Many archives keep the Content-Encoding of a body that they store decoded. So a body
    without the mark of gzip, and a body with an unknown coding, is returned unchanged.
    """
    for coding in reversed(_codings(content_encoding)):
        if body and _is_still_coded(body, coding):
            body = decode(body, coding, max_size)
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


def check_body_size(size: int, max_size: int) -> None:
    """Raise FetchError if *size* exceeds *max_size*."""
    if size > max_size:
        raise FetchError("too_large", f"the body is larger than {max_size} bytes")


def _decode_step(
    coding: str, pieces: Iterable[bytes], at_once: int, *, whole: bool
) -> Iterable[bytes]:
    """Undo one *coding*; a body without any byte is left as it is."""
    rest = iter(pieces)
    for first in rest:
        if first:
            break
    else:
        return ()
    decoder = _DECODERS.get(coding)
    if decoder is None:
        raise FetchError("bad_encoding", f"cannot decode {coding!r}")
    return decoder(chain((first,), rest), at_once, whole=whole)


def _limited(pieces: Iterable[bytes], max_size: int, *, whole: bool) -> Iterator[bytes]:
    """Yield *pieces*; of a body that is larger, yield enough, or raise FetchError for a *whole* one."""
    size = 0
    for piece in pieces:
        size += len(piece)
        if whole:
            check_body_size(size, max_size)
        yield piece
        if size >= max_size and not whole:
            return


def _gunzip(pieces: Iterable[bytes], at_once: int, *, whole: bool) -> Iterator[bytes]:
    """Decode gzip streams, one after the other; *whole* requires the end of the last one."""
    stream, members = None, 0
    for piece in pieces:
        rest = piece
        while rest:
            if stream is None:
                members += 1
                stream = zlib.decompressobj(_GZIP)
            if members > MAX_MEMBERS:
                raise FetchError(
                    "bad_encoding", f"more than {MAX_MEMBERS} gzip streams in one body"
                )
            rest = yield from _inflate(stream, rest, at_once)
            if stream.eof:
                stream = None
    _check_end(whole and stream is not None)


def _undeflate(pieces: Iterable[bytes], at_once: int, *, whole: bool) -> Iterator[bytes]:
    """Decode the zlib format, which the standard requires, or raw deflate, which many servers send."""
    stream, start = None, b""
    for piece in pieces:
        rest = piece
        if stream is None:
            rest = start = start + piece
            if len(start) < 2:
                continue
            is_zlib = start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0
            stream = zlib.decompressobj(_ZLIB if is_zlib else _RAW_DEFLATE)
        if not stream.eof:
            rest = yield from _inflate(stream, rest, at_once)
        if rest:
            raise FetchError("bad_encoding", "bytes after the end of the deflate stream")
    _check_end(whole and (stream is None or not stream.eof))


def _inflate(stream: Any, piece: bytes, at_once: int) -> Generator[bytes, None, bytes]:
    """Yield what *stream* makes of *piece*; return the bytes after the end of the stream."""
    content = b""
    while True:
        try:
            content = stream.decompress(piece, at_once)
        except zlib.error as error:
            raise FetchError("bad_encoding", str(error)) from error
        yield content
        piece = stream.unconsumed_tail
        if stream.eof:
            return stream.unused_data  # type: ignore[no-any-return]
        if not piece and len(content) < at_once:
            return b""


def _unbrotli(pieces: Iterable[bytes], at_once: int, *, whole: bool) -> Iterator[bytes]:
    brotli = _brotli()
    if brotli is None:
        raise FetchError("bad_encoding", "cannot decode 'br': the brotli package is not installed")
    stream = brotli.Decompressor()
    try:
        for piece in pieces:
            content = stream.process(piece, output_buffer_limit=at_once)
            while content:
                yield content
                content = b""
                if not stream.is_finished():
                    content = stream.process(b"", output_buffer_limit=at_once)
    except brotli.error as error:
        raise FetchError("bad_encoding", str(error)) from error
    _check_end(whole and not stream.is_finished())


def _check_end(is_missing: bool) -> None:
    if is_missing:
        raise FetchError("truncated", "the compressed body stops early")


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
