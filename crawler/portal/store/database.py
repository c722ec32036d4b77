"""Database: the SQLite file of a portal."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import gevent

#: Seconds that a change waits while another program writes, and between two tries.
_PATIENCE, _PAUSE = 5.0, 0.02
#: Each is applied once, in order; their number is the version of the file.
_MIGRATIONS = (
    """
    CREATE TABLE user (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, role TEXT NOT NULL,
        failures INTEGER NOT NULL DEFAULT 0, locked_until REAL NOT NULL DEFAULT 0
    );
    CREATE TABLE session (
        hash BLOB PRIMARY KEY, user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
        csrf TEXT NOT NULL, begun REAL NOT NULL, seen REAL NOT NULL
    );
    CREATE TABLE task (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
        enabled INTEGER NOT NULL, checked REAL NOT NULL
    );
    CREATE TABLE fire (
        task INTEGER NOT NULL REFERENCES task ON DELETE CASCADE, due REAL NOT NULL,
        PRIMARY KEY (task, due)
    );
    CREATE TABLE run (
        id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES task ON DELETE CASCADE,
        number INTEGER NOT NULL, job INTEGER NOT NULL, spec TEXT NOT NULL, state TEXT NOT NULL,
        token TEXT NOT NULL, asked_by TEXT NOT NULL, asked REAL NOT NULL, began REAL, ended REAL,
        exit INTEGER, UNIQUE (task, number)
    );
    CREATE INDEX run_by_state ON run (state);
    CREATE TABLE audit (at REAL NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL);
    """,
    """
    CREATE TABLE token (
        id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL,
        user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE, scope TEXT NOT NULL,
        expires REAL NOT NULL, used REAL
    );
    CREATE TABLE idempotency (
        key TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE
    );
    """,
    """
    CREATE TABLE project (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, url TEXT NOT NULL, login TEXT NOT NULL,
        user TEXT NOT NULL, pattern TEXT NOT NULL, secret BLOB NOT NULL, hook BLOB NOT NULL,
        known_hosts TEXT NOT NULL DEFAULT ''
    );
    CREATE TABLE delivery (
        project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE, provider TEXT NOT NULL,
        id TEXT NOT NULL, at REAL NOT NULL, verdict TEXT NOT NULL, PRIMARY KEY (project, id)
    );
    CREATE TABLE version (
        id INTEGER PRIMARY KEY, project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
        version TEXT NOT NULL, tag TEXT NOT NULL, commit_id TEXT NOT NULL, state TEXT NOT NULL,
        digest TEXT NOT NULL DEFAULT '', spiders TEXT NOT NULL DEFAULT '[]',
        reason TEXT NOT NULL DEFAULT '', at REAL NOT NULL, UNIQUE (project, version)
    );
    CREATE TABLE alarm (
        id INTEGER PRIMARY KEY, subject TEXT NOT NULL, text TEXT NOT NULL, since REAL NOT NULL,
        seen_by TEXT, UNIQUE (subject, text)
    );
    """,
    """
    ALTER TABLE run ADD COLUMN not_before REAL NOT NULL DEFAULT 0;
    ALTER TABLE run ADD COLUMN stalled REAL;
    CREATE INDEX run_by_job ON run (job);
    """,
    """
    CREATE TABLE guess (
        address TEXT PRIMARY KEY, failures INTEGER NOT NULL, locked_until REAL NOT NULL
    );
    CREATE INDEX run_by_end ON run (ended);
    """,
    """
    ALTER TABLE project ADD COLUMN grants TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE alarm ADD COLUMN project TEXT NOT NULL DEFAULT '';
    """,
    """
    ALTER TABLE alarm ADD COLUMN is_sent INTEGER NOT NULL DEFAULT 0;
    """,
    """
    ALTER TABLE task ADD COLUMN agents INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE allocation (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, agent TEXT NOT NULL,
        state TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (run, agent)
    );
    """,
    """
    ALTER TABLE run ADD COLUMN start TEXT NOT NULL DEFAULT '';
    ALTER TABLE run ADD COLUMN reason TEXT NOT NULL DEFAULT '';
    """,
)


class Database:
    """
    One connection, for one thread. The file is for its owner only.

    Every change happens in a transaction, so a kill leaves none half done. A change that waits for
    another portal lets other greenlets run.
    """

    def __init__(self, path: Path) -> None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=0)
        self._connection.row_factory = sqlite3.Row
        self._execute("PRAGMA journal_mode = WAL")
        self._execute("PRAGMA foreign_keys = ON")
        self._migrate()

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        return self._execute(query, *values).fetchall()

    def row(self, query: str, *values: Any) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self._execute(query, *values).fetchone()
        return found

    def change(self, query: str, *values: Any) -> int:
        """Change rows; return the id of the last one that was inserted."""
        return self._execute(query, *values).lastrowid or 0

    def update(self, query: str, *values: Any) -> int:
        """Change rows; return how many there were."""
        return self._execute(query, *values).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes inside, or none of them."""
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk may have ended it
                self._connection.execute("ROLLBACK")
            raise

    def touch(self, query: str, *values: Any) -> None:
        """Change what a read notes by the way; a store that is locked or full loses the note."""
        with suppress(sqlite3.OperationalError):
            self._connection.execute(query, values)

    def audit(self, now: float, who: str, what: str) -> None:
        self.change("INSERT INTO audit VALUES (?, ?, ?)", now, who, what)

    def close(self) -> None:
        self._connection.close()

    def _execute(self, query: str, *values: Any) -> sqlite3.Cursor:
        end = monotonic() + _PATIENCE
        while True:
            try:
                return self._connection.execute(query, values)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > end:
                    raise
            gevent.sleep(_PAUSE)

    def _migrate(self) -> None:
        if self._version() == len(_MIGRATIONS):
            return
        with self.transaction():  # another portal may have migrated the file meanwhile
            for script in _MIGRATIONS[self._version() :]:
                for statement in script.split(";"):
                    self._execute(statement)
            self._execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")

    def _version(self) -> int:
        [version] = self._execute("PRAGMA user_version").fetchone()
        return int(version)
