"""The tables of a job's state, and the file they are in: made, opened, checked and migrated."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

from ..._words import counted
from ...errors import JobError
from ..admission.fingerprint import Fingerprint
from .crash_marker import CrashMarker
from .rows import sealed

#: The version of all that follows.
FORMAT = 3

SCHEMA = """
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,     -- in the order they were met
    key BLOB NOT NULL,          -- its fingerprint: see the fact "fingerprint"
    url TEXT NOT NULL,          -- as it was asked for
    host TEXT NOT NULL,         -- the host it waits for
    depth INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    found_on TEXT,
    more TEXT,                  -- JSON: the other fields of the request
    met REAL NOT NULL,          -- seconds since 1970
    seal INTEGER NOT NULL,      -- a hash of all of the above but met
    progress TEXT,              -- JSON: its redirects and attempts so far, and a hash of them
    status TEXT,                -- done, failed, refused, turned_away; NULL while it is outstanding
    reason TEXT,
    code INTEGER,               -- of the last response
    bytes INTEGER,
    seconds REAL,
    redirects TEXT,             -- JSON: the URLs it was redirected to
    attempts TEXT,              -- JSON: how each earlier attempt ended
    ended REAL,
    end_seal INTEGER            -- a hash of id, status, reason and redirects
);
CREATE TABLE hosts (
    name TEXT PRIMARY KEY, failures INTEGER, rests_until REAL, why TEXT, seal INTEGER
);
CREATE TABLE robots (origin TEXT PRIMARY KEY, expires REAL, body BLOB, seal INTEGER);
CREATE TABLE strikes (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, seal INTEGER NOT NULL);
"""
#: Where a URL was found nearer to the start than the depth in its row, at which it was fetched.
NEARER = """
CREATE TABLE nearer (key BLOB PRIMARY KEY, depth INTEGER NOT NULL, found_on TEXT) WITHOUT ROWID
"""
#: What waits for a host, in order; made when a queue first grows too long for memory.
INDEX = """
CREATE INDEX IF NOT EXISTS waiting ON urls (host, -priority, depth, id) WHERE status IS NULL
"""


#: Tables whose every index is checked.
_SMALL = ("facts", "hosts", "robots", "strikes")
#: Errors of SQLite that do not mean that the file is damaged.
_NOT_ITS_FAULT = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


def open_marker(path: Path) -> CrashMarker:
    """
    Open the crash marker of the state in *path*; formats before 2 had the first part of it.

    The marker is made before the state, so a state without one has lost it.
    """
    marker, before = path.with_suffix(".marker"), path.with_suffix(".pulse")
    if before.exists() and not marker.exists():
        before.replace(marker)
    return CrashMarker(marker, replaces_lost=path.exists() and path.stat().st_size > 0)


def open_state(path: Path, commits: int | None) -> sqlite3.Connection:
    """
    Open the file, and make it if it is missing.

    If it has no commit, there must have been none: *commits* is their number by the crash
    marker, None if that is unknown. Otherwise a job would start over and write all its records again.
    """
    with ExitStack() as on_error:
        try:
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            on_error.callback(connection.close)
            path.chmod(0o600)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if not _has_tables(connection):
                _expect_none(path, commits)
                _create(connection)
            _check(path, connection)
            if not _has_commits(connection):
                _expect_none(path, commits)
        except sqlite3.DatabaseError as error:
            raise unusable(path, error) from error
        on_error.pop_all()
    return connection


def unusable(path: Path, error: sqlite3.Error) -> JobError:
    """Return the error for a file that is damaged, or that cannot be used here and now."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_ITS_FAULT:
        return JobError(f"cannot use {path}: {error}; correct that and try again")
    return damaged(path, error)


def damaged(path: Path, what: object) -> JobError:
    return JobError(f"{path} is damaged ({what}): put a copy back, or start over with --fresh")


def _has_tables(connection: sqlite3.Connection) -> bool:
    """Return whether the file has a state: not if the process ended while it made the file."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(tables)


def _has_commits(connection: sqlite3.Connection) -> bool:
    (facts,) = connection.execute("SELECT count(*) FROM facts WHERE name = 'commits'").fetchone()
    return bool(facts)


def _expect_none(path: Path, commits: int | None) -> None:
    if commits != 0:
        missing = counted(commits, "commit", "is") if commits else "all commits are"
        raise damaged(path, f"{missing} missing")


def _check(path: Path, connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    while version in _MIGRATIONS:
        _MIGRATIONS[version](connection)
        version += 1
    if version != FORMAT:
        raise JobError(
            f"{path} has format {version or 'none'}, and this version reads format {FORMAT}: "
            f"go on with the version that made it, or start over with --fresh"
        )
    # The rows of the large table have seals, and its index is made anew: see recover().
    for check in ("quick_check(1)", *(f"integrity_check('{name}')" for name in _SMALL)):
        (result,) = connection.execute(f"PRAGMA {check}").fetchone()
        if result != "ok":
            raise damaged(path, result)


def _from_1(connection: sqlite3.Connection) -> None:
    """Format 2 has a crash marker that names several rows, and counts among the facts."""
    connection.execute("PRAGMA user_version = 2")


def _from_2(connection: sqlite3.Connection) -> None:
    """
    Format 3 says how its fingerprints are made; those of the formats before had no key.

    It also knows where URLs were found nearer to the start.
    """
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(NEARER)
    fact = sealed("fingerprint", json.dumps(Fingerprint("mmh3").to_dict()))
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", fact)
    connection.execute("PRAGMA user_version = 3")
    connection.execute("COMMIT")


#: By format, how to make the next one of it.
_MIGRATIONS = {1: _from_1, 2: _from_2}


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in (*SCHEMA.split(";\n"), NEARER):
        connection.execute(statement)
    connection.execute("INSERT INTO facts VALUES (?, ?, ?)", sealed("began", str(time.time())))
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")
