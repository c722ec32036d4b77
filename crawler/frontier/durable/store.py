"""Store: the state of a job in one SQLite file, written in groups off the hub's thread."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gevent
from gevent.event import Event
from gevent.lock import Semaphore
from gevent.threadpool import ThreadPool

from ...data import Request
from ...errors import JobError
from .crash_marker import CrashMarker
from .rows import INDEX, NEXT, Batch, Rank, Row, seal, sealed
from .schema import damaged, open_state, unusable

if TYPE_CHECKING:
    from .recovery import Recovered

log = logging.getLogger(__name__)

#: The exit code of a process that a callback would not let go on.
STUCK = 7
#: Seconds and settled requests after which a group is committed, whichever comes first.
_SECONDS = 0.05
GROUP = 64
#: How many settled requests may wait for a commit before no more are taken.
_MOST_UNWRITTEN = 256
#: How many rows are read at a time.
_CHUNK = 2000


class Store:
    """
    Keeps what a frontier tells it: each *batch* is one transaction, all or nothing.

    Batches are written in the order they came, so what is in the file is always the whole
    story up to some moment; a crash costs the moments after it. What is committed outlives
    the process, however that ends. After a loss of power SQLite may be back a few commits,
    never with half of one.

    *facts* are asked at each commit for numbers that belong to the same moment, such as
    where the outputs end. When a commit fails, *on_failure* is told, and nothing is
    written any more: the file stays as it was.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.batch = Batch()
        self.facts: dict[str, Callable[[], Any]] = {}
        #: What the next commit writes down besides.
        self.notes: dict[str, Any] = {}
        self.on_failure: Callable[[JobError], object] = _ignore
        self.on_settle: Callable[[str], object] = _ignore
        self.on_put_back: Callable[[str], object] = _ignore
        #: What a frontier has found here.
        self.recovered: Recovered | None = None
        self.failure: JobError | None = None
        self.pulse = CrashMarker(self.path.with_suffix(".pulse"))
        self._thread = ThreadPool(1)
        self._turn = Semaphore()
        self._due = Event()
        self._full = Event()
        self._written = Event()
        self._unwritten = 0
        self._writing: gevent.Greenlet[..., None] | None = None
        #: What the thread could not commit: nothing may be committed after it.
        self._refused: BaseException | None = None
        try:
            self._connection = open_state(self.path, self.pulse.commits)
            #: How many there have been, in all processes.
            self.commits = int(self.fact("commits") or 0)
        except BaseException:
            self._thread.kill()
            self.pulse.close()
            raise

    # -- what the frontier tells --------------------------------------------------------------

    def changed(self) -> None:
        """Have the batch written soon."""
        if self._writing is None:
            self._writing = gevent.spawn(self._write_batches)
        self._due.set()

    def settled(self) -> None:
        """Have the batch written soon: one more request has ended in it."""
        self._unwritten += 1
        if self._unwritten >= GROUP:
            self._full.set()
        self.changed()

    def wait_for_room(self) -> None:
        """Wait while too much has ended that a crash would undo."""
        while self._unwritten >= _MOST_UNWRITTEN and self.failure is None:
            self._written.clear()
            self._full.set()
            self._written.wait()

    def next(self, wanted: Sequence[tuple[str, Rank, int]]) -> list[list[Row]]:
        """Return for each host so many of what waits for it behind a rank; written or not."""
        self._write()
        rows: list[list[Row]] = self._call(self._select, wanted)
        return rows

    def build_index(self) -> None:
        try:
            self._call(self._execute, INDEX)
        except sqlite3.Error as error:
            self.fail(error)

    def flush(self, *, anyway: bool = False) -> None:
        """
        Wait until all that was told is committed; raise JobError if it cannot be.

        The facts are, *anyway*, or else if there is anything besides.
        """
        self._write(anyway=anyway)
        if self.failure is not None:
            raise self.failure

    def close(self) -> None:
        """Write what is left, and let go of the file."""
        self._due.clear()
        if self._writing is not None:
            self._writing.kill()
        try:
            self._write()
        finally:
            with suppress(sqlite3.Error):
                self._call(self._connection.close)
            if isinstance(self._refused, Exception):  # whoever waited for that was ended above
                self.fail(self._refused)
            self._thread.kill()
            self.pulse.close()

    def fail(self, error: Exception) -> None:
        """Write nothing any more, because of *error*."""
        if self.failure is None:
            self.failure = JobError(
                f"cannot write to {self.path.parent}: {error}; what is there is whole: "
                f"put that right and go on with the same command"
            )
            self.failure.__cause__ = error
            self._written.set()
            self.on_failure(self.failure)

    def strike(self, request: Request) -> None:
        """
        Count it against *request* that its analysis never ends, and end the process.

        For a thread: the hub's is the one that is stuck. What is committed is safe, and the
        next process sets the page aside if it has ended others too.
        """
        self.pulse.running = int(request.id, 16)
        log.critical("%s never ends: leaving it; go on with the same command", request)
        os._exit(STUCK)

    # -- what is known at the start -------------------------------------------------------------

    def fact(self, name: str) -> Any:
        """Return what was last told of *name*; None if nothing was."""
        for value, its_seal in self.rows("SELECT value, seal FROM facts WHERE name = ?", name):
            if its_seal != seal(name, value):
                raise damaged(self.path, f"the entry {name!r} was changed")
            return json.loads(value)
        return None

    @property
    def lost_commits(self) -> int | None:
        """How many commits were made that the file does not have; None if that is not known."""
        made = self.pulse.commits
        return None if made is None else max(0, made - self.commits)

    def rows(self, query: str, *values: Any) -> Iterator[Any]:
        """Yield what *query* finds; for the time before the first batch."""
        try:
            with closing(self._execute(query, *values)) as cursor:
                yield from cursor
        except sqlite3.DatabaseError as error:
            raise unusable(self.path, error) from error

    def chunks(self, query: str, *values: Any) -> Iterator[list[Any]]:
        """Yield what *query* finds as rows() does, many at a time."""
        try:
            with closing(self._execute(query, *values)) as cursor:
                while some := cursor.fetchmany(_CHUNK):
                    yield some
        except sqlite3.DatabaseError as error:
            raise unusable(self.path, error) from error

    def read_any_text(self) -> None:
        """From now on, let text that is none be read with its faults, which a seal then tells."""
        self._connection.text_factory = partial(str, encoding="utf-8", errors="replace")

    @contextmanager
    def change_all(self) -> Iterator[Callable[..., int]]:
        """Give a function to change rows with, all at once; for the time before the first batch."""
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

    # -- the thread --------------------------------------------------------------------------

    def _write_batches(self) -> None:
        while self.failure is None:
            self._due.wait()
            self._full.wait(_SECONDS)
            self._write()

    def _write(self, *, anyway: bool = False) -> None:
        """Commit the batch, and wait for that; the next one gathers meanwhile."""
        with self._turn:
            self._unwritten = 0
            self._due.clear()
            self._full.clear()
            if (self.batch or anyway) and self.failure is None:
                self._write_batch()
            self._written.set()

    def _write_batch(self) -> None:
        batch, self.batch = self.batch, Batch()
        try:
            self.commits += 1
            facts = {name: ask() for name, ask in self.facts.items()} | self.notes
            self.notes = {}
            self._call(self._commit, batch, facts | {"commits": self.commits})
        except Exception as error:  # whatever it is, the story must not go on without it
            self.fail(error)

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        ended: Any = self._thread.spawn(_caught, function, *args).get()
        result, error = ended
        if error is not None:
            raise error
        return result

    def _commit(self, batch: Batch, facts: dict[str, Any]) -> None:
        if self._refused is not None:  # whoever waited for that may have been killed
            raise self._refused
        execute = self._connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            for statement, values in batch.statements():
                execute(statement, values)
            for name, value in facts.items():
                row = sealed(name, json.dumps(value))
                execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", row)
            execute("COMMIT")
        except BaseException as error:
            self._refused = error
            with suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise
        self.pulse.commits = facts["commits"]

    def _select(self, wanted: Sequence[tuple[str, Rank, int]]) -> list[list[Row]]:
        execute = self._connection.execute
        return [
            [Row(*row) for row in execute(NEXT, (host, *rank, most)).fetchall()]
            for host, rank, most in wanted
        ]

    def _execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)


def _caught(function: Callable[..., Any], *args: Any) -> tuple[Any, Exception | None]:
    """Hand over what *function* raises: a thread of gevent's would print it as well."""
    try:
        return function(*args), None
    except Exception as error:
        return None, error


def _ignore(_what: object) -> None:
    pass
