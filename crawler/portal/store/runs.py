"""Runs: each time that a task ran, runs or waits to run."""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from .database import Database
from .grants import NOTHING_HIDDEN, Hidden, without
from .tasks import Task

#: The states of a run that is not over.
ACTIVE = ("queued", "running")
STATES = (*ACTIVE, "finished", "stopped", "failed", "lost")


class Start(NamedTuple):
    """How a run begins: it goes on with its job, or does something *kind* of before."""

    kind: str = ""
    reason: str = ""

    @property
    def words(self) -> str:
        why = f" for {self.reason}" if self.reason else ""
        known = {"retry": f": what has failed{why} again", "fresh": ": its job starts over"}
        return known.get(self.kind, "")


CONTINUED = Start()


@dataclass(frozen=True)
class Run:
    """
    *job* is the run whose directory has its job: its own, or the one that it continues.

    It starts *not_before* a time; nothing of it has ended since the time *stalled*, if that is set.
    If *start* is "retry", it first puts the URLs back in the queue that have failed, for one
    *reason* unless that is ""; if it is "fresh", the job starts over.
    """

    id: int
    task: int
    number: int
    job: int
    spec: str
    state: str
    token: str
    asked_by: str
    asked: float
    began: float | None
    ended: float | None
    exit: int | None
    not_before: float = 0.0
    stalled: float | None = None
    start: str = ""
    reason: str = ""

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def project(self) -> str:
        """The name of the project that its spider is from; "" if it is from none."""
        return Task.from_json(self.spec).project


class Runs:
    kind = "run"

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, run: int) -> Run | None:
        row = self._database.row("SELECT * FROM run WHERE id = ?", run)
        return None if row is None else Run(*row)

    def name(self, run: Run) -> str:
        row = self._database.row("SELECT name FROM task WHERE id = ?", run.task)
        return f"{row['name'] if row else '?'} #{run.number}"

    def active(self) -> list[Run]:
        return self._all("WHERE state IN ('queued', 'running') ORDER BY id")

    def last(self, most: int = 50) -> list[Run]:
        return self._all("ORDER BY id DESC LIMIT ?", most)

    def since(self, moment: float) -> list[Run]:
        """Return the runs that go on, or have ended since a *moment*."""
        return self._all("WHERE state = 'running' OR ended > ? ORDER BY +id", moment)

    def states(self) -> dict[str, int]:
        """Return how many runs are in each state."""
        rows = self._database.rows("SELECT state, count(*) FROM run GROUP BY state")
        return {row[0]: row[1] for row in rows}

    def of_task(self, task: int, most: int = 50) -> list[Run]:
        return self._all("WHERE task = ? ORDER BY number DESC LIMIT ?", task, most)

    def page(
        self,
        before: int,
        most: int,
        *,
        task: int = 0,
        state: str = "",
        hidden: Hidden = NOTHING_HIDDEN,
    ) -> list[Run]:
        """Return the last runs, before one and of one task or state unless these are 0 or ""."""
        # The plus keeps the index by state away from runs of a task: it has another order.
        of_state = "+state = ?" if task else "state = ?"
        wanted = {"id < ?": before, "task = ?": task, of_state: state}
        given = {condition: value for condition, value in wanted.items() if value}
        rest, values = without(hidden)
        where = " AND ".join(["TRUE", *given]) + rest
        # The runs of a task have an index by number, which grows with the id.
        order = "number" if task else "id"
        query = f"WHERE {where} ORDER BY {order} DESC LIMIT ?"
        return self._all(query, *given.values(), *values, most)

    def ask(
        self,
        task: Task,
        *,
        now: float,
        who: str,
        job: int = 0,
        key: str = "",
        not_before: float = 0.0,
        start: Start = CONTINUED,
    ) -> int:
        """
        Queue a run of *task*, which continues the job of the run *job* if there is one.

        Asked again with the same *key*, return the run that was queued the first time.
        """
        with self._database.transaction():
            row = self._database.row("SELECT run FROM idempotency WHERE key = ?", key)
            if row is not None:
                return int(row["run"])
            run = self._queue(task, now, who, job, start)
            if not_before:
                query = "UPDATE run SET not_before = ? WHERE id = ?"
                self._database.change(query, not_before, run)
            if key:
                self._database.change("INSERT INTO idempotency VALUES (?, ?)", key, run)
            return run

    def fire(self, task: Task, due: float, *, now: float) -> int | None:
        """
        Queue the run of a *due* time together with a row for the time, or neither.

        Return None if the time has fired before, here or in another portal, or if the overlap
        of the task does not allow a run now.
        """
        try:
            with self._database.transaction():
                self._database.change("INSERT INTO fire VALUES (?, ?)", task.id, due)
                if not self._has_room(task):
                    self._database.audit(
                        now, "cron", f"left out a time of {task.name}: a run goes on"
                    )
                    return None
                return self._queue(task, now, "cron", 0)
        except sqlite3.IntegrityError:
            return None

    def begin(self, run: Run, now: float) -> bool:
        """Mark a queued run as running; return False if another portal has done so before."""
        query = "UPDATE run SET state = 'running', began = ? WHERE id = ? AND state = 'queued'"
        return self._database.update(query, now, run.id) == 1

    def set_spec(self, run: Run, task: Task) -> None:
        """Keep what a run was given: the version that "latest" was when it started."""
        self._database.change("UPDATE run SET spec = ? WHERE id = ?", task.to_json(), run.id)

    def end(self, run: Run, state: str, code: int | None, now: float) -> None:
        query = (
            "UPDATE run SET state = ?, exit = ?, ended = ? WHERE id = ?"
            " AND state IN ('queued', 'running')"
        )
        self._database.update(query, state, code, now, run.id)

    def lost_in_a_row(self, job: int) -> int:
        """Return how many of the last runs of a job were lost, one after the other."""
        runs = self._all("WHERE job = ? AND state != 'queued' ORDER BY id DESC LIMIT 10", job)
        return sum(1 for _ in takewhile(lambda run: run.state == "lost", runs))

    def set_stalled(self, run: Run, since: float | None) -> None:
        query = "UPDATE run SET stalled = ? WHERE id = ?"
        self._database.change(query, since, run.id)

    def last_of_sources(self) -> dict[str, float]:
        """Return when a run of each PROJECT@VERSION was asked for last."""
        query = (
            "SELECT json_extract(spec, '$.source') AS source, max(asked) FROM run GROUP BY source"
        )
        return {row[0]: row[1] for row in self._database.rows(query) if row[0]}

    def _has_room(self, task: Task) -> bool:
        states = [run.state for run in self.of_task(task.id) if run.is_active]
        return (
            task.overlap == "parallel"
            or not states
            or (task.overlap == "queue" and "queued" not in states)
        )

    def _queue(self, task: Task, now: float, who: str, job: int, start: Start = CONTINUED) -> int:
        query = "SELECT coalesce(max(number), 0) + 1 FROM run WHERE task = ?"
        [number] = self._database.row(query, task.id) or (1,)
        run = self._database.change(
            "INSERT INTO run (task, number, job, spec, state, token, asked_by, asked, start, reason)"
            " VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?)",
            *(task.id, number, job, task.to_json(), secrets.token_urlsafe(24), who, now, *start),
        )
        if not job:
            self._database.change("UPDATE run SET job = id WHERE id = ?", run)
        self._database.audit(now, who, f"asked for run {number} of {task.name}{start.words}")
        return run

    def _all(self, rest: str, *values: object) -> list[Run]:
        return [Run(*row) for row in self._database.rows(f"SELECT * FROM run {rest}", *values)]  # noqa: S608
