"""Reads the whole records of a WARC file, each gzipped or plain."""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ...data import Headers
from ..output import FeedError

Content: TypeAlias = "mmap.mmap | bytes"

GZIP = 16 + zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b"
_END = b"\r\n\r\n"
_NEXT = b"\r\n\r\nWARC/1."
#: How many bytes are unpacked at a time, and how many a record and its head may have.
_PIECE = 1 << 14
_LARGEST = 1 << 30
_LONGEST_HEAD = 1 << 18
_FIELD = re.compile(r"^([^:\r\n]+):[ \t]*([^\r\n]*)", re.MULTILINE)


class Torn(Exception):
    """The file ends before the record does."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record, from byte *start* of the file to byte *end*."""

    start: int
    end: int
    fields: Headers
    block: bytes


def records(content: Content) -> Iterator[Record]:
    """Yield every record except an incomplete one at the end."""
    start = 0
    while start < len(content):
        try:
            record = record_at(content, start)
        except Torn:
            return
        yield record
        start = record.end


def record_at(content: Content, start: int) -> Record:
    if content[start : start + 2] == _MAGIC[: len(content) - start]:
        packed, end = _unpacked(content, start)
        return Record(start, end, *_parsed(packed, 0, start)[:2])
    fields, block, end = _parsed(content, start, start)
    return Record(start, end, fields, block)


def head_of(text: bytes) -> tuple[str, Headers]:
    """Return the first line and the fields after it; each byte is one character (Latin-1)."""
    first, _, rest = text.decode("latin-1").partition("\r\n")
    return first, Headers([(name.strip(), value.strip()) for name, value in _FIELD.findall(rest)])


def _unpacked(content: Content, start: int) -> tuple[bytes, int]:
    """Unpack one gzip stream; return its content and where it ends."""
    stream, pieces, size, read = zlib.decompressobj(wbits=GZIP), [], 0, start
    while not stream.eof:
        if read >= len(content):
            raise Torn
        try:
            pieces.append(stream.decompress(content[read : read + _PIECE], _LARGEST + 1 - size))
        except zlib.error as error:
            raise _damaged(start, str(error)) from error
        read = min(read + _PIECE, len(content))
        size += len(pieces[-1])
        if size > _LARGEST:
            raise _damaged(start, f"the record is larger than {_LARGEST} bytes")
    return b"".join(pieces), read - len(stream.unused_data)


def _parsed(content: Content, start: int, place: int) -> tuple[Headers, bytes, int]:
    """Parse the record at *start*; return its fields, its block, and where it ends."""
    if content[start : start + 5] != b"WARC/"[: len(content) - start]:
        raise _damaged(place, "not a WARC record")
    head = content.find(_END, start, start + _LONGEST_HEAD)
    if head < 0:
        raise _incomplete(content, start, place)
    fields = head_of(content[start:head])[1]
    length = fields.get("content-length", "")
    if not length.isdecimal():
        raise _damaged(place, "a record without a length")
    first = head + len(_END)
    last = first + int(length)
    if content[last : last + len(_END)] != _END:
        raise _incomplete(content, first, place)
    return fields, content[first:last], last + len(_END)


def _incomplete(content: Content, start: int, place: int) -> Exception:
    """Return Torn if the file ends too early, or an error if another record follows."""
    if content.find(_NEXT, start) < 0:
        return Torn()
    return _damaged(place, "a record without an end")


def _damaged(place: int, reason: str) -> FeedError:
    return FeedError(f"damaged at byte {place}: {reason}")
