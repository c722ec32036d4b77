"""Sqlite: a table in a SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from .batched_feed import BatchedFeed
from .output import FeedError
from .record import Cell, cell, to_json, weight

#: The number of a row, under a name that SQLite reserves and records hardly use.
_NUMBER = "_rowid_"
#: The column for fields that cannot have their own.
_MORE = "_more"
#: SQLite allows 2,000 columns, but each one takes longer to add than the one before.
_MOST_COLUMNS = 500
_LONGEST_NAME = 200
#: How many characters are committed at once, even if the rows are few.
_HEAVIEST = 1 << 22


class Sqlite(BatchedFeed[tuple[dict[str, Any], dict[str, Cell]]]):
    """
    A row of *table* for each record, and a column for each field of any record.

    Columns have no type: numbers stay numbers and text stays text, booleans are 1 and 0,
    lists and objects are JSON text (``json_extract()`` reads them). Fields that cannot
    have a column are together in ``_more`` as JSON: names that differ only in the case of ASCII
    letters, which SQLite takes for the same, names with NUL or of more than 200 characters, and
    all fields beyond five hundred.

    Rows wait in memory and are committed every *batch* rows or *seconds*, during a call or a
    flush(), never between; a commit of 500 rows takes 5–10 ms of the hub's thread, and
    sometimes about 30 ms, when SQLite moves its log (WAL) into the file. A commit that fails
    writes nothing, and the rows still wait.

    A new feed drops the table and leaves the rest of the file unchanged. A position is the
    number of the last row.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        table: str = "items",
        append: bool = False,
        position: int | None = None,
        batch: int = 500,
        seconds: float = 1.0,
    ) -> None:
        if not table or "\0" in table:
            raise ValueError(f"a table cannot be named {table!r}")
        super().__init__(path)
        self._table = _quoted(table)
        self.batch = batch
        self.seconds = seconds
        self._since = 0.0
        self._columns: dict[bytes, str] = {}
        self._inserts: dict[tuple[str, ...], str] = {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # SQLite itself would not give a new file all rights of the umask
            self.path.touch()
        self._connection = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
        try:
            self._open(append=append or position is not None)
            if position is not None:
                self.rewind(position)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise FeedError(f"cannot write to {self.path}: {error}") from error
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def remove(cls, path: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            super().remove(path.with_name(f"{path.name}{suffix}"))

    def flush(self) -> None:
        if not self._waiting:
            return
        columns = self._columns.copy()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            with self._connection:
                # Columns first: SQLite prepares every statement again after a change of the table.
                self._add_columns(name for record, _ in self._waiting for name in record)
                for record, row in self._waiting:
                    self._insert(record, row)
        except BaseException:
            self._columns = columns
            self._inserts.clear()
            raise
        self._forget_waiting()

    def position(self) -> int:
        self.flush()
        numbers = f"SELECT max({_NUMBER}) FROM {self._table}"  # noqa: S608 - quoted
        (last,) = self._execute(numbers).fetchone()
        return last or 0

    def rewind(self, position: int) -> None:
        self._forget_waiting()
        last = self.position()
        if position > last:
            raise self._too_short(position, last, "row")
        later = f"DELETE FROM {self._table} WHERE {_NUMBER} > ?"  # noqa: S608 - quoted
        self._execute(later, position)

    def _open(self, *, append: bool) -> None:
        self._execute("PRAGMA journal_mode = WAL")
        self._execute("PRAGMA synchronous = NORMAL")
        if not append:
            self._execute(f"DROP TABLE IF EXISTS {self._table}")
        self._execute(f"CREATE TABLE IF NOT EXISTS {self._table} ({_NUMBER} INTEGER PRIMARY KEY)")
        for _, name, *_ in self._execute(f"PRAGMA table_info({self._table})"):
            self._columns[_folded(name)] = name

    def _write(self, record: dict[str, Any]) -> None:
        if not record:
            return
        if not self._waiting:
            self._since = monotonic()
        # A record that cannot be a row fails here, alone, and not in a batch.
        row = {name: cell(value) for name, value in record.items()}
        self._waiting.append((record, row))
        self._weight += weight(row)
        if self._is_due():
            self._flush_with_last()

    def _is_due(self) -> bool:
        return (
            len(self._waiting) >= self.batch
            or self._weight >= _HEAVIEST
            or monotonic() - self._since >= self.seconds
        )

    def _add_columns(self, names: Iterable[str]) -> None:
        for name in dict.fromkeys(names):
            if _folded(name) not in self._columns:
                self._add_column(name if self._may_be_column(name) else _MORE)
            elif not self._is_column(name):
                self._add_column(_MORE)

    def _add_column(self, name: str) -> None:
        if _folded(name) not in self._columns:
            self._execute(f"ALTER TABLE {self._table} ADD COLUMN {_quoted(name)}")
            self._columns[_folded(name)] = name

    def _may_be_column(self, name: str) -> bool:
        return (
            len(self._columns) < _MOST_COLUMNS
            and len(name) <= _LONGEST_NAME
            and "\0" not in name
            and _folded(name) != _folded(_MORE)
        )

    def _is_column(self, name: str) -> bool:
        return self._columns.get(_folded(name)) == name and name not in {_NUMBER, _MORE}

    def _insert(self, record: dict[str, Any], row: dict[str, Cell]) -> None:
        insert = self._inserts.get(tuple(row))
        if insert is None:
            more = {name: value for name, value in record.items() if not self._is_column(name)}
            if more:
                row = {name: value for name, value in row.items() if name not in more}
                row[_MORE] = to_json(more)
            insert = self._insertion(row)
            if not more and len(self._inserts) < _MOST_COLUMNS:
                self._inserts[tuple(row)] = insert
        self._execute(insert, *row.values())

    def _insertion(self, names: Collection[str]) -> str:
        quoted = ", ".join(map(_quoted, names))
        marks = ", ".join("?" * len(names))
        return f"INSERT INTO {self._table} ({quoted}) VALUES ({marks})"  # noqa: S608 - quoted

    def _execute(self, statement: str, *values: Cell) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _release(self) -> None:
        self._connection.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _folded(name: str) -> bytes:
    """Return the name as SQLite compares it: only ASCII letters lose their case."""
    return name.encode().lower()
