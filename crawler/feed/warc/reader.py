"""
Reads the whole records of a WARC file, each gzipped or plain.

An archive may be damaged, or made to do harm: no record takes more memory than it is given, and
each byte of the file is read once.
"""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ...headers import Headers
from ..output import FeedError

Content: TypeAlias = "mmap.mmap | bytes"

GZIP = 16 + zlib.MAX_WBITS
#: The most bytes of a record; and of its head, or of a head of HTTP in it.
LARGEST = 1 << 30
LONGEST_HEAD = 1 << 18

_MAGIC = b"\x1f\x8b"
_END = b"\r\n\r\n"
_NEXT = b"\r\n\r\nWARC/1."
#: How many bytes are read at a time, and unpacked at a time.
_PIECE = 1 << 14
_UNPACKED = 1 << 20
_FIELD = re.compile(r"^([^:\r\n]+):[ \t]*([^\r\n]*)", re.MULTILINE)
_LENGTH = re.compile(r"[0-9]{1,18}")


class Torn(Exception):
    """The file ends before the record does."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record, from byte *start* of the file to byte *end*; *block* is None if it is too large."""

    start: int
    end: int
    fields: Headers
    block: bytes | None


def records(content: Content, largest: int = LARGEST) -> Iterator[Record]:
    """Yield every record except an incomplete one at the end; blocks of up to *largest* bytes."""
    start = 0
    while start < len(content):
        try:
            record = record_at(content, start, largest)
        except Torn:
            return
        yield record
        start = record.end


def record_at(content: Content, start: int, largest: int = LARGEST) -> Record:
    if content[start : start + 2] == _MAGIC[: len(content) - start]:
        return _packed_record(content, start, largest)
    if content[start : start + 5] != b"WARC/"[: len(content) - start]:
        raise _damaged(start, "not a WARC record")
    head = _head_at(content, start, start)
    if head is None:
        raise _incomplete(content, start, start)
    first, last = head.end, head.end + head.length
    if content[last : last + len(_END)] != _END:
        raise _incomplete(content, first, start)
    block = content[first:last] if head.length <= largest else None
    return Record(start, last + len(_END), head.fields, block)


def head_of(text: bytes) -> tuple[str, Headers]:
    """Return the first line and the fields after it; each byte is one character (Latin-1)."""
    first, _, rest = text.decode("latin-1").partition("\r\n")
    return first, Headers([(name.strip(), value.strip()) for name, value in _FIELD.findall(rest)])


class _Head(NamedTuple):
    """The head of a record, up to byte *end*, and the *length* of the block behind it."""

    fields: Headers
    end: int
    length: int


def _head_at(content: Content, start: int, place: int) -> _Head | None:
    """Return the head that begins at *start*; None if it has no end."""
    end = content.find(_END, start, start + LONGEST_HEAD)
    if end < 0:
        return None
    fields = head_of(content[start:end])[1]
    length = fields.get("content-length", "")
    if not _LENGTH.fullmatch(length):
        raise _damaged(place, f"its Content-Length is {length!r:.40}")
    return _Head(fields, end + len(_END), int(length))


# -- gzipped records ------------------------------------------------------------------------------


def _packed_record(content: Content, start: int, largest: int) -> Record:
    kept, size, end = _unpacked(content, start, largest + LONGEST_HEAD + len(_END))
    head = _head_at(kept, 0, start) if kept.startswith(b"WARC/") else None
    if head is None:
        raise _damaged(start, "the gzip stream is not a WARC record")
    last = head.end + head.length
    if size > last + len(_END) and _NEXT in kept:
        raise _damaged(start, _SEVERAL)
    if size != last + len(_END) or (size == len(kept) and not kept.endswith(_END)):
        raise _damaged(start, f"its Content-Length is {head.length}, which its block has not")
    block = kept[head.end : last] if head.length <= largest else None
    return Record(start, end, head.fields, block)


_SEVERAL = "several records in one gzip stream: unpack it with gunzip, and name the .warc file"


def _unpacked(content: Content, start: int, most: int) -> tuple[bytes, int, int]:
    """Unpack one gzip stream; return its first bytes, *most* or some more, its size and its end."""
    stream, pieces, size, read = zlib.decompressobj(wbits=GZIP), list[bytes](), 0, start
    while not stream.eof:
        packed = stream.unconsumed_tail or content[read : read + _PIECE]
        if not packed:
            raise Torn
        read += 0 if stream.unconsumed_tail else len(packed)
        try:
            piece = stream.decompress(packed, _UNPACKED)
        except zlib.error as error:
            raise _damaged(start, str(error)) from error
        if size < most:
            pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            raise _damaged(start, f"the gzip stream is larger than {LARGEST} bytes")
    return b"".join(pieces), size, read - len(stream.unused_data)


# -- errors ---------------------------------------------------------------------------------------


def _incomplete(content: Content, start: int, place: int) -> Exception:
    """Return Torn if the file ends too early, or an error if another record follows."""
    if content.find(_NEXT, start) < 0:
        return Torn()
    return _damaged(place, "a record without an end")


def _damaged(place: int, reason: str) -> FeedError:
    return FeedError(f"damaged at byte {place}: {reason}")
