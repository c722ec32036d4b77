"""LogIndex: the log of a run in an SQLite file that can be searched by words."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

from .supervisor import LOG

#: The index, beside the log that it is made of.
INDEX = "log.db"
#: How many bytes of a log are read at a time; the most of a line that is kept.
_PIECE, _LONGEST = 2 << 20, 1 << 18
LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
#: The name of the logger of lines that the run has printed.
PRINTED = "output"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS log (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, level INTEGER NOT NULL, logger TEXT NOT NULL,
    request TEXT NOT NULL, host TEXT NOT NULL, url TEXT NOT NULL, message TEXT NOT NULL,
    trace TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS log_at ON log (at);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    message, trace, host, request, severity, content=''
);
CREATE TABLE IF NOT EXISTS state (offset INTEGER NOT NULL, at REAL NOT NULL, dropped INTEGER NOT NULL);
INSERT INTO state SELECT 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM state);
PRAGMA user_version = 1;
"""


@dataclass(frozen=True)
class LogLine:
    """A line of a log; *at* never decreases from one line to the next."""

    id: int
    at: float
    level: int
    logger: str
    request: str
    host: str
    url: str
    message: str
    trace: str

    @property
    def level_name(self) -> str:
        return next((name for name, level in LEVELS.items() if level >= self.level), "CRITICAL")


class LogIndex:
    """
    The index of the log in the directory *path*; *hidden* is a secret that no line may show.

    The log is the truth. How far it was read is kept in the transaction that adds the lines, so
    a kill or a second portal neither loses lines nor adds them twice.
    """

    def __init__(self, path: Path, hidden: str = "") -> None:
        self._log, self._file = path / LOG, path / INDEX
        self._hidden = hidden

    def update(self, *, is_over: bool = False) -> int:
        """
        Add the next lines of the log; return how many bytes of it were read.

        A last line without an end is left for later, unless the run *is_over*.
        """
        if not self._log.exists():
            return 0
        with self.open() as database, database:
            database.execute("BEGIN IMMEDIATE")
            offset, at, dropped = database.execute("SELECT * FROM state").fetchone()
            piece = self._read(offset, is_over=is_over)
            if piece:
                lines = piece.removesuffix(b"\n").split(b"\n")
                rows = [_fields(line, self._hidden) for line in lines]
                at = _insert(database, rows, at)
                dropped = max([dropped, *(row["dropped"] for row in rows)])
                state = (offset + len(piece), at, dropped)
                database.execute("UPDATE state SET offset = ?, at = ?, dropped = ?", state)
        return len(piece)

    def unread(self) -> int:
        """Return how many bytes of the log are not in the index yet."""
        try:
            size = self._log.stat().st_size
        except OSError:
            return 0
        with self.open() as database:
            return max(0, size - int(database.execute("SELECT offset FROM state").fetchone()[0]))

    def dropped(self) -> int:
        """Return how many lines the run has dropped because its log was full."""
        with self.open() as database:
            return int(database.execute("SELECT dropped FROM state").fetchone()[0])

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Open the index; one connection each time, because each call has a thread of its own."""
        if not self._file.exists():
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._file, isolation_level=None, timeout=30)
        try:
            # The index can be made again from the log, so nothing waits for the disk.
            database.execute("PRAGMA synchronous = OFF")
            if not database.execute("PRAGMA user_version").fetchone()[0]:
                database.execute("PRAGMA journal_mode = WAL")
                database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
            yield database
        finally:
            database.close()

    def _read(self, offset: int, *, is_over: bool) -> bytes:
        with self._log.open("rb") as log:
            log.seek(offset)
            piece = log.read(_PIECE)
        if len(piece) < _PIECE and is_over:
            return piece
        whole = piece[: piece.rfind(b"\n") + 1]
        return whole or (piece if len(piece) == _PIECE else b"")


def severity_words(level: int) -> str:
    """Return the names of the levels from WARNING up to *level*: each finds the line."""
    return " ".join(name for name, least in LEVELS.items() if LEVELS["INFO"] < least <= level)


def _insert(database: sqlite3.Connection, rows: list[dict[str, Any]], at: float) -> float:
    """Insert *rows*, none before *at* or after now; return the time of the last one."""
    now = time()
    [last] = database.execute("SELECT coalesce(max(id), 0) FROM log").fetchone()
    for row in rows:
        at = row["at"] = max(at, min(row["at"], now))
    numbered = [{"id": number, **row} for number, row in enumerate(rows, last + 1)]
    database.executemany(
        "INSERT INTO log VALUES"
        " (:id, :at, :level, :logger, :request, :host, :url, :message, :trace)",
        numbered,
    )
    database.executemany(
        "INSERT INTO words (rowid, message, trace, host, request, severity)"
        " VALUES (:id, :message, :trace, :host, :request, :severity)",
        numbered,
    )
    return at


def _fields(raw: bytes, hidden: str) -> dict[str, Any]:
    """Return the fields of a line of a log: JSON that was logged, or text that was printed."""
    text = raw[:_LONGEST].decode(errors="replace")
    if hidden:
        text = text.replace(hidden, "…")
    try:
        line = json.loads(text) if text.startswith("{") else {}
        at = datetime.fromisoformat(line["ts"]).timestamp()
        level, message = LEVELS[line["level"]], line["message"]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        line, at, level, message = {"logger": PRINTED}, 0.0, LEVELS["INFO"], text
    names = ("logger", "request", "host", "url", "trace")
    fields: dict[str, Any] = {name: str(line.get(name, "")) for name in names}
    dropped = line.get("dropped")
    return fields | {
        "at": at,
        "level": level,
        "severity": severity_words(level),
        "message": str(message),
        "dropped": dropped if isinstance(dropped, int) and 0 < dropped < 1 << 62 else 0,
    }
