"""The file a store is in: made, opened and checked; and what to say if it cannot be used."""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

from ...errors import JobError
from .rows import FORMAT, SCHEMA, sealed

#: Tables whose every index is checked.
_SMALL = ("facts", "hosts", "robots", "strikes")
#: Reasons of SQLite's that say nothing about the state of the file.
_NOT_ITS_FAULT = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


def open_state(path: Path, commits: int | None) -> sqlite3.Connection:
    """
    Open the file, and make it if there is none; it must have had no *commits* then.

    None stands for a number that is not known.
    """
    with ExitStack() as on_error:
        try:
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            on_error.callback(connection.close)
            path.chmod(0o600)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if not _was_made(path, connection, commits):
                _create(connection)
            _check(path, connection)
        except sqlite3.DatabaseError as error:
            raise unusable(path, error) from error
        on_error.pop_all()
    return connection


def unusable(path: Path, error: sqlite3.Error) -> JobError:
    """Tell a file that is damaged from one that cannot be used here and now."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_ITS_FAULT:
        return JobError(f"cannot use {path}: {error}; put that right and try again")
    return damaged(path, error)


def damaged(path: Path, what: object) -> JobError:
    return JobError(f"{path} is damaged ({what}): put a copy back, or start over with --fresh")


def _was_made(path: Path, connection: sqlite3.Connection, commits: int | None) -> bool:
    """Say if there is a state; a file that was being made when the process ended is none."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and commits != 0:
        raise damaged(path, f"{commits or 'all'} commits are missing")
    return bool(tables)


def _check(path: Path, connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != FORMAT:
        raise JobError(
            f"{path} has format {version or 'none'}, and this version reads format {FORMAT}: "
            f"go on with the version that made it, or start over with --fresh"
        )
    # Of the large table, rows have seals, and the index is made anew: see recover().
    for check in ("quick_check(1)", *(f"integrity_check('{name}')" for name in _SMALL)):
        (verdict,) = connection.execute(f"PRAGMA {check}").fetchone()
        if verdict != "ok":
            raise damaged(path, verdict)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in SCHEMA.split(";\n"):
        connection.execute(statement)
    connection.execute("INSERT INTO facts VALUES (?, ?, ?)", sealed("began", str(time.time())))
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")
