"""Runner: fires cron times, starts queued runs, and notices how runs have ended."""

from __future__ import annotations

import logging
import math
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import time

import gevent
from prometheus_client import Histogram

from ..projects.spider_sources import SpiderSources
from ..store.alarms import Alarms
from ..store.database import Database
from ..store.runs import CONTINUED, Run, Runs, Start
from ..store.tasks import Task, Tasks
from .cron import due_time, task_times
from .process import RunProcess

log = logging.getLogger(__name__)

#: Seconds between two looks at cron lines and processes.
_INTERVAL = 1.0
#: How many runs may go on at a time.
_MOST_RUNNING = 4
#: Seconds that a process of another portal has to start.
_START = 60.0
#: Seconds that a run has to end by itself once it was asked to stop.
_STOPPING = 60.0
#: How often the job of a run that was killed is continued; seconds before that, at first and at most.
_MOST_RESUMED, _FIRST_WAIT, _LONGEST_WAIT = 3, 10.0, 600.0
#: Upper bounds of seconds that a time of a timetable is late.
_LATENESS = (1, 2, 5, 15, 60, 300, 900, 3600)
#: The state of a run by the exit code of `crawler run`; any other is failed.
_STATES = {0: "finished", 1: "finished", 3: "stopped", 130: "stopped"}


class Runner:
    """
    Steps once a second. Each step reads its state from the store, so a restart changes nothing.
    """

    def __init__(
        self,
        database: Database,
        root: Path,
        sources: SpiderSources,
        clock: Callable[[], float] = time,
    ) -> None:
        self._database = database
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._alarms = Alarms(database)
        self._root, self._sources = root, sources
        self._clock = clock
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self.lateness = Histogram(
            "crawler_portal_cron_lateness_seconds",
            "From the time of a timetable to its run in the queue.",
            buckets=_LATENESS,
            registry=None,
        )
        #: The subject and the text of an alarm about steps that have failed.
        self._failure: tuple[str, str] | None = None
        #: By run, since when it is seen to be asked to stop.
        self._stopping: dict[int, float] = {}
        #: By task, its row as it was looked at, when that was, and its next time.
        self._waiting: dict[int, tuple[object, float, float]] = {}

    def serve(self) -> None:
        """Step for ever."""
        while True:
            self.try_step()
            gevent.sleep(_INTERVAL)

    def try_step(self) -> None:
        """Step; what fails, such as a full disk, is tried again, and an alarm once it is over."""
        try:
            self.step()
            if self._failure:
                self._alarms.add(*self._failure, self._clock())
                self._failure = None
        except Exception as error:
            log.exception("the portal could not look after its runs")
            since = datetime.fromtimestamp(self._clock(), UTC).isoformat(" ", "seconds")
            text = f"runs could not be started or followed from {since} on: {error}"
            self._failure = self._failure or ("the portal", text)

    def step(self) -> None:
        self._children = {run: c for run, c in self._children.items() if c.poll() is None}
        self._fire()
        running = [run for run in self._runs.active() if run.state == "running"]
        self._stopping = {r.id: self._stopping[r.id] for r in running if r.id in self._stopping}
        for run in running:
            self._check(run)
        self._start_queued()

    def process(self, run: Run) -> RunProcess:
        return RunProcess(run, self._root)

    def _fire(self) -> None:
        now = self._clock()
        waiting: dict[int, tuple[object, float, float]] = {}
        for row in self._database.rows("SELECT id, spec, checked FROM task WHERE enabled"):
            known, asked, due = self._waiting.get(row["id"], (None, 0.0, 0.0))
            if known != tuple(row) or not asked <= now < due:
                known, asked, due = tuple(row), now, self._fire_task(row["id"], row["checked"], now)
            waiting[row["id"]] = (known, asked, due)
        self._waiting = waiting

    def _fire_task(self, number: int, checked: float, now: float) -> float:
        """Fire the time of a task that is due, if there is one; return when to look at it again."""
        task = self._tasks.find(number)
        if task is None or not task.cron:
            return math.inf
        due = due_time(task, checked, now)
        if due is not None:
            if self._runs.fire(task, due, now=now) is not None:
                self.lateness.observe(now - due)
            self._database.change("UPDATE task SET checked = ? WHERE id = ?", due, task.id)
        return min((at for at in task_times(task, now, 3) if at > now), default=math.inf)

    def _check(self, run: Run) -> None:
        process, now = self.process(run), self._clock()
        # In this order: a process writes its exit code while it is still alive.
        is_alive = process.is_alive or run.id in self._children
        code = process.exit_code
        if code is not None and code >= 0:
            self._runs.end(run, _STATES.get(code, "failed"), code, process.ended_at)
        elif code is not None and process.is_stopping:
            self._runs.end(run, "stopped", code, process.ended_at)
        elif code is not None:  # killed by a signal
            self._lose(run, code, process.ended_at)
        elif not is_alive and now > (run.began or 0) + _START:
            self._lose(run, None, now)
        elif process.is_stopping and now > self._stopping.setdefault(run.id, now) + _STOPPING:
            process.kill()

    def _lose(self, run: Run, code: int | None, at: float) -> None:
        """End a run that was killed, and continue its job a little later, if its task wants that."""
        self._runs.end(run, "lost", code, at)
        task, name = self._tasks.find(run.task), self._runs.name(run)
        times = self._runs.lost_in_a_row(run.job)
        if task is None or task.if_lost != "resume":
            return
        if times > _MOST_RESUMED:
            text = (
                f"its job was lost {times} times in a row: see the end of its log, then resume it"
            )
            self._alarms.add(name, text, self._clock(), run.project)
            return
        wait = min(_FIRST_WAIT * 8.0 ** (times - 1), _LONGEST_WAIT)
        now, start = self._clock(), self._missed_start(run)
        self._runs.ask(task, now=now, who="portal", job=run.job, not_before=now + wait, start=start)

    def _missed_start(self, run: Run) -> Start:
        """Return how a run was to begin, if it was killed before; one with a live page has begun."""
        return CONTINUED if self.process(run).live_url else Start(run.start, run.reason)

    def _start_queued(self) -> None:
        active = self._runs.active()
        running = [run for run in active if run.state == "running"]
        for run in active:
            if len(running) >= _MOST_RUNNING:
                return
            is_due = run.state == "queued" and run.not_before <= self._clock()
            is_ready = is_due and self._may_start(run, running)
            if is_ready and self._runs.begin(run, self._clock()):
                self._start(run)
                running.append(run)

    def _start(self, run: Run) -> None:
        """Start a run with the version that it was asked for, or that is the latest now."""
        task = self._sources.resolved(Task.from_json(run.spec))
        self._runs.set_spec(run, task)
        try:
            place = self._sources.place(task)
        except LookupError as error:
            log.warning("a run of %s cannot start: %s", task.name, error)
            self._runs.end(run, "failed", None, self._clock())
            return
        self._children[run.id] = self.process(replace(run, spec=task.to_json())).start(place)

    def _may_start(self, run: Run, running: list[Run]) -> bool:
        if any(other.job == run.job for other in running):
            return False
        task = self._tasks.find(run.task)
        others = any(other.task == run.task for other in running)
        return not others or (task is not None and task.overlap == "parallel")
