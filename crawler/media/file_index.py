"""FileIndex: what became of each file that a job has fetched, by URL."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    key BLOB PRIMARY KEY, failed INTEGER NOT NULL, result TEXT NOT NULL
) WITHOUT ROWID
"""


class FileIndex:
    """
    Results by URL, as JSON values; those of failed files are forgotten by the next process.

    *path* is a SQLite file; None is a temporary one. Each result is written at once, so a process
    that is killed has not fetched a file in vain. *directory* is where the files are: the same
    URL in another directory is another file.
    """

    def __init__(self, path: Path | None, directory: str) -> None:
        self._directory = directory
        try:
            self._connection = _connected(path)
        except sqlite3.DatabaseError as error:
            if path is None or isinstance(error, sqlite3.OperationalError):
                raise
            log.warning("%s is damaged: the files of this job may be fetched again", path)
            for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                name.unlink(missing_ok=True)
            self._connection = _connected(path)

    def get(self, url: str) -> dict[str, Any] | None:
        query = "SELECT result FROM files WHERE key = ?"
        with closing(self._connection.execute(query, [self._key(url)])) as rows:
            row = rows.fetchone()
        return None if row is None else json.loads(row[0])

    def add(self, url: str, result: dict[str, Any], *, failed: bool) -> None:
        row = [self._key(url), failed, json.dumps(result)]
        self._connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", row).close()

    def close(self) -> None:
        self._connection.close()

    def _key(self, url: str) -> bytes:
        text = f"{self._directory}\0{url}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16).digest()


def _connected(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(path or "", isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_SCHEMA)
        connection.execute("DELETE FROM files WHERE failed")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
