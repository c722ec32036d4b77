"""Store: the state of a job in one SQLite file, which a thread of its own writes."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from gevent.threadpool import ThreadPool

from .batch import Batch
from .crash_marker import CrashMarker
from .key_log import KeyLog
from .rows import NEXT, Rank, Row, seal, sealed
from .schema import INDEX, damaged, open_marker, open_state, unusable

#: How many rows are read at a time.
_CHUNK = 2000


class Store:
    """
    Commits batches, each in one transaction, all or nothing; and reads what is there.

    Batches are committed in their order, so the file always holds the whole history up to
    some moment; a crash costs what came after it. What is committed outlives the process,
    however that ends. After a loss of power SQLite may have lost the last few commits, never
    a part of one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.marker: CrashMarker = open_marker(self.path)
        self._thread = ThreadPool(1)
        #: What the thread could not commit: nothing may be committed after it.
        self.refused: BaseException | None = None
        self.keys = KeyLog(self.path.with_suffix(".keys"))
        try:
            self._connection = open_state(self.path, self.marker.commits)
            #: How many there have been, in all processes.
            self.commits = int(self.fact("commits") or 0)
            made = self.marker.commits
            #: How many commits were made before that the file does not have; None if unknown.
            self.lost_commits = None if made is None else max(0, made - self.commits)
        except BaseException:
            self._thread.kill()
            self.marker.close()
            self.keys.close()
            raise

    def commit(self, batch: Batch, facts: Mapping[str, Any]) -> None:
        """Write *batch* and *facts* in one transaction, and wait for that."""
        self.commits += 1
        self._call(self._commit, batch, {**facts, "commits": self.commits})

    def next(self, wanted: Sequence[tuple[str, Rank, int]]) -> list[list[Row]]:
        """Return for each host as many rows as wanted that wait for it behind a rank."""
        rows: list[list[Row]] = self._call(self._select, wanted)
        return rows

    def build_index(self) -> None:
        """Make the index that next() needs to be fast."""
        self._call(self._execute, INDEX)

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._call(self._connection.close)
        self._thread.kill()
        self.marker.close()
        self.keys.close()

    # -- what is known at the start -------------------------------------------------------------

    def fact(self, name: str) -> Any:
        """Return the value that was last committed as *name*; None if there is none."""
        for value, its_seal in self.rows("SELECT value, seal FROM facts WHERE name = ?", name):
            if its_seal != seal(name, value):
                raise damaged(self.path, f"the entry {name!r} was changed")
            return json.loads(value)
        return None

    def rows(self, query: str, *values: Any) -> Iterator[Any]:
        """Yield what *query* finds; only before the first commit."""
        for some in self.chunks(query, *values):
            yield from some

    def chunks(self, query: str, *values: Any) -> Iterator[list[Any]]:
        """Yield what *query* finds as rows() does, many rows at a time."""
        try:
            with closing(self._execute(query, *values)) as cursor:
                while some := cursor.fetchmany(_CHUNK):
                    yield some
        except sqlite3.DatabaseError as error:
            raise unusable(self.path, error) from error

    def read_any_text(self) -> None:
        """From now on, read damaged text with its faults, which a seal then shows."""
        self._connection.text_factory = partial(str, encoding="utf-8", errors="replace")

    @contextmanager
    def change_all(self) -> Iterator[Callable[..., int]]:
        """Give a function to change rows with, all at once; only before the first commit."""
        try:
            self._execute("BEGIN IMMEDIATE")
            yield lambda statement, *values: self._execute(statement, *values).rowcount
            self._execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise unusable(self.path, error) from error
        finally:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._execute("ROLLBACK")

    @contextmanager
    def meanwhile(self, *statements: str) -> Iterator[None]:
        """Execute *statements* in the thread while the block runs, which must not use the store."""
        executed: Any = self._thread.spawn(_caught, self._execute_all, statements)
        try:
            yield
        finally:
            _, error = executed.get()
        if error is not None:
            raise error

    # -- the thread --------------------------------------------------------------------------

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        ended: Any = self._thread.spawn(_caught, function, *args).get()
        result, error = ended
        if error is not None:
            raise error
        return result

    def _commit(self, batch: Batch, facts: Mapping[str, Any]) -> None:
        if self.refused is not None:  # the greenlet that waited for it may have been killed
            raise self.refused
        execute = self._connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            for statement, values in batch.statements():
                execute(statement, values)
            for name, value in facts.items():
                row = sealed(name, json.dumps(value))
                execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", row)
            self.keys.append(facts["commits"], batch.seen_keys())
            execute("COMMIT")
        except BaseException as error:
            self.refused = error
            with suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise
        self.marker.commits = facts["commits"]

    def _select(self, wanted: Sequence[tuple[str, Rank, int]]) -> list[list[Row]]:
        execute = self._connection.execute
        return [
            [Row(*row) for row in execute(NEXT, (host, *rank, most)).fetchall()]
            for host, rank, most in wanted
        ]

    def _execute_all(self, statements: Sequence[str]) -> None:
        for statement in statements:
            self._execute(statement)

    def _execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)


def _caught(function: Callable[..., Any], *args: Any) -> tuple[Any, Exception | None]:
    """Return what *function* raises: a thread of gevent's would print it as well."""
    try:
        return function(*args), None
    except Exception as error:
        return None, error
