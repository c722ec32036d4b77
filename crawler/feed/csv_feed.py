"""Csv: a CSV file that gets new columns as new fields come."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from .append_file import AppendFile, draft_of, mapped, put_in_place
from .batched_feed import BatchedFeed
from .output import FeedError
from .record import Cell, cell, weight

Row: TypeAlias = dict[str, str]

#: A row, with the line breaks in its quoted fields. Possessive: it never backtracks.
_ROW = re.compile(rb'(?:[^"\n]++|"[^"]*+")*+\n')
#: What a spreadsheet may read as the start of a formula, unless the cell is a number.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-][0-9][0-9.,]*+(?:[eE][+-]?[0-9]++)?\Z", re.ASCII)
#: A file of fewer bytes is rewritten for every new column; a larger one when so many rows, or so
#: many characters, wait.
_SMALL = 1 << 16
_MOST_WAITING = 1000
_HEAVIEST = 1 << 22
#: How many bytes are copied at a time.
_PIECE = 1 << 20


class Csv(BatchedFeed[Row]):
    """
    A row for each record and a column for each field of any record (RFC 4180, UTF-8).

    A row is in the file when the call returns, unless it has a new column. For new columns the
    file is rewritten: a new file is written beside the old one and replaces it, at about 100 MB
    a second on the hub's thread. So in a large file, the row with a new column and all rows
    after it wait until there are 1,000 of them, or 4 MB, or a flush(). The file is a whole
    table at every moment.

    None, a missing field and empty text are all an empty cell; lists and objects are JSON
    text; NUL, which few readers of CSV accept, becomes U+FFFD. A cell has the text of the page,
    so a spreadsheet may run one that starts with = + - @ or a control character as a formula:
    *escape_formulas* puts an apostrophe before these, which every other reader will see.

    A position is a number of rows. Appending without a position cuts nothing.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        append: bool = False,
        position: int | None = None,
        escape_formulas: bool = False,
    ) -> None:
        super().__init__(path)
        self._text = _escaped if escape_formulas else _shown
        self._file = AppendFile(self.path, append=append or position is not None)
        self._columns: dict[str, None] = {}
        self._rows = 0
        draft_of(self.path).unlink(missing_ok=True)
        if self._file.size:
            self._read(repair=position is None)
        if position is not None:
            self.rewind(position)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file, in their order."""
        return tuple(self._columns)

    def flush(self) -> None:
        if self._waiting:
            self._widen(self._waiting)
            self._forget_waiting()

    def position(self) -> int:
        self.flush()
        return self._rows

    def rewind(self, position: int) -> None:
        self._forget_waiting()
        if position > self._rows:
            raise self._too_short(position, self._rows, "row")
        # The header is a row as well.
        for end in islice(_row_ends(self.path), position, position + 1):
            self._file.cut(end)
            self._rows = position

    def _write(self, record: dict[str, Any]) -> None:
        text = self._text
        row = {text(name): text(cell(value)) for name, value in record.items()}
        if not row:
            return
        if not self._waiting and row.keys() <= self._columns.keys():
            self._file.write(_lines(_table(self._columns, [row])))
            self._rows += 1
            return
        self._waiting.append(row)
        self._weight += weight(row)
        if self._is_due():
            self._flush_with_last()

    def _is_due(self) -> bool:
        return (
            self._file.size < _SMALL
            or len(self._waiting) >= _MOST_WAITING
            or self._weight >= _HEAVIEST
        )

    def _widen(self, rows: list[Row]) -> None:
        """Add *rows* and their new columns, all or nothing."""
        columns = self._columns | {name: None for row in rows for name in row}
        added = _lines(_table(columns, rows))
        if self._columns:
            self._rewrite(columns, added)
        else:
            self._file.write(_lines([columns]) + added)
        self._columns = columns
        self._rows += len(rows)

    def _rewrite(self, columns: dict[str, None], added: bytes) -> None:
        late = list(columns)[len(self._columns) :]
        if not self.path.is_file():
            raise FeedError(
                f"{self.path} is not a file, so it cannot get new columns: {late!r:.200}"
            )
        draft = draft_of(self.path)
        file = AppendFile(draft, append=False)
        try:
            file.write(_lines([columns]))
            for piece in _padded(self.path, b"," * len(late) + b"\r\n"):
                file.write(piece)
            file.write(added)
            file.sync()
            put_in_place(draft, self.path)
        except BaseException:
            file.close()
            draft.unlink(missing_ok=True)
            raise
        self._file.close()
        self._file = file

    def _read(self, *, repair: bool) -> None:
        """Read the columns and count the rows of the existing file."""
        first = end = rows = 0
        for end in _row_ends(self.path):
            first = first or end
            rows += 1
        if not first and not repair:
            self._file.cut(0)
            return
        with mapped(self.path) as content:
            header = content[: first or len(content)]
            rest = content[end:]
        names = _parsed(header.removeprefix(b"\xef\xbb\xbf"))
        self._columns = dict.fromkeys(names)
        if len(self._columns) < len(names):
            raise FeedError(f"two columns of {self.path} have the same name: {names!r:.200}")
        self._rows = max(rows - 1, 0)
        if rest and repair:
            self._finish(rest)

    def _finish(self, row: bytes) -> None:
        """Add the missing line break after the last row, if that row looks whole."""
        if not _ROW.fullmatch(row + b"\n") or len(_parsed(row)) != len(self._columns):
            raise FeedError(f"the last row of {self.path} is not whole: repair or remove it first")
        is_header = not self._rows and self._file.size == len(row)
        self._file.write(b"\r\n")
        self._rows += not is_header

    def _release(self) -> None:
        self._file.close()


def _shown(value: Cell) -> str:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _escaped(value: Cell) -> str:
    text = _shown(value)
    if isinstance(value, str) and text.startswith(_FORMULA) and not _NUMBER.match(text):
        return f"'{text}"
    return text


def _table(columns: Iterable[str], rows: Iterable[Row]) -> Iterator[list[str]]:
    return ([row.get(column, "") for column in columns] for row in rows)


def _lines(rows: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def _parsed(row: bytes) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(row.decode("utf-8", "replace"), newline="")), [])
    except csv.Error:
        return []


def _row_ends(path: Path) -> Iterator[int]:
    """Yield the offset at which each whole row ends, beginning with the header."""
    end = 0
    with mapped(path) as content:
        while row := _ROW.match(content, end):
            end = row.end()
            yield end


def _padded(path: Path, padding: bytes) -> Iterator[bytes]:
    """Yield the rows after the header, each ended by *padding*, in pieces of about _PIECE bytes."""
    with mapped(path) as content:
        start = next(_row_ends(path))
        quoted = False
        while piece := content[start : start + _PIECE]:
            if piece.endswith(b"\r"):
                piece += content[start + len(piece) : start + len(piece) + 1]
            start += len(piece)
            # Every second part is inside quotes: a line break there does not end a row.
            parts = piece.split(b'"')
            parts[quoted::2] = [
                part.replace(b"\r\n", b"\n").replace(b"\n", padding) for part in parts[quoted::2]
            ]
            quoted ^= len(parts) % 2 == 0
            yield b'"'.join(parts)
