"""JsonLinesGzip: JSON Lines in a gzip file that can be cut back."""

from __future__ import annotations

import gzip
import os
import zlib
from mmap import mmap
from typing import Any

from .append_file import AppendFile, mapped
from .batched_feed import BatchedFeed
from .output import FeedError
from .record import to_json

_MAGIC = b"\x1f\x8b\x08"
_GZIP = 31  # what zlib calls the header and the checksum of gzip
#: How many bytes of lines wait at most; to compress them takes about 20 ms of the hub's thread.
_HEAVIEST = 1 << 20
#: How many bytes are read at a time: each member costs two copies of a piece.
_PIECE = 1 << 16


class JsonLinesGzip(BatchedFeed[bytes]):
    """
    A line of JSON in UTF-8 for each record, compressed.

    A gzip file may have several members, which every reader joins. Lines wait until there is 1 MiB
    of them, or a flush(), and become a member; so a position, which is a number of bytes, is the end
    of a member, and the file can be cut there. A job makes a member for each of its commits.

    Appending without a position removes a last member that is not whole.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        append: bool = False,
        position: int | None = None,
    ) -> None:
        super().__init__(path)
        self._file = AppendFile(self.path, append=append or position is not None)
        if position is not None:
            self.rewind(position)
        elif append:
            self._repair()

    def flush(self) -> None:
        if self._waiting:
            self._write_member(b"".join(self._waiting))
            self._forget_waiting()

    def position(self) -> int:
        self.flush()
        return self._file.size

    def rewind(self, position: int) -> None:
        self._forget_waiting()
        size = self._file.size
        if position > size:
            raise self._too_short(position, size, "bytes")
        with mapped(self.path) as content:
            follows = content[position : position + len(_MAGIC)]
        if not _MAGIC.startswith(follows):
            raise FeedError(
                f"no record of {self.path} ends at byte {position}: the file was changed"
            )
        self._file.cut(position)

    def _write(self, record: dict[str, Any]) -> None:
        line = to_json(record).encode() + b"\n"
        self._waiting.append(line)
        self._weight += len(line)
        if self._weight >= _HEAVIEST:
            self._flush_with_last()

    def _write_member(self, lines: bytes) -> None:
        self._file.write(gzip.compress(lines, compresslevel=6, mtime=0))

    def _repair(self) -> None:
        """Remove a member that is not whole, and end the last line."""
        with mapped(self.path) as content:
            end, ends_a_line = self._whole(content)
        if end < self._file.size:
            self._file.cut(end)
        if not ends_a_line:
            self._write_member(b"\n")

    def _whole(self, content: mmap | bytes) -> tuple[int, bool]:
        """Return where the last whole member ends, and whether the last line ends there."""
        end, last = 0, b"\n"
        while end < len(content):
            try:
                size, text_end = _member(content, end)
            except zlib.error as error:
                raise FeedError(
                    f"{self.path} is not a gzip file from byte {end} on ({error}): "
                    f"repair or remove it first"
                ) from None
            if not size:
                break
            end, last = end + size, text_end or last
        return end, last == b"\n"

    def _release(self) -> None:
        try:
            if not self._file.size:  # many readers take an empty file for a damaged one
                self._write_member(b"")
        finally:
            self._file.close()


def _member(content: mmap | bytes, start: int) -> tuple[int, bytes]:
    """Return the size of the member at *start*, 0 if it is not whole, and its last byte of text."""
    member, last, place = zlib.decompressobj(_GZIP), b"", start
    while not member.eof:
        given = member.unconsumed_tail
        if not given:
            given = content[place : place + _PIECE]
            place += len(given)
        if not given:
            return 0, b""
        last = member.decompress(given, _PIECE)[-1:] or last
    return place - len(member.unused_data) - start, last
