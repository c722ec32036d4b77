"""LogKeeper: brings the logs of runs into their indexes, and removes old ones."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import time

import gevent
from gevent.event import Event

from ..store.database import Database
from ..store.runs import Run, Runs
from .log_index import INDEX, LogIndex
from .supervisor import LOG

log = logging.getLogger(__name__)

#: Seconds between two looks at logs, and between two looks for old ones.
_INTERVAL, _CLEANING = 1.0, 3600.0
#: Seconds that a log is kept after its run has ended.
_KEPT = 30 * 86400.0
#: How many of the last runs are looked at when the portal starts.
_LAST = 50


class LogKeeper:
    """*root* has the directories of runs."""

    def __init__(self, database: Database, root: Path, clock: Callable[[], float] = time) -> None:
        self._runs = Runs(database)
        self._root = root
        self._clock = clock
        self._unfinished = {run.id for run in self._runs.last(_LAST)}
        self._cleaned = 0.0
        self._changed: dict[int, Event] = {}

    def serve(self) -> None:
        """Step for ever."""
        while True:
            try:
                self.step()
            except (OSError, sqlite3.Error) as error:  # a full disk: tried again
                log.warning("the portal could not index a log: %s", error)
            gevent.sleep(_INTERVAL)

    def step(self) -> None:
        """Index what the logs of runs have more than before; remove old logs once an hour."""
        self._unfinished |= {run.id for run in self._runs.active()}
        for number in sorted(self._unfinished):
            run = self._runs.find(number)
            if run is None or not self.update(run):
                self._unfinished.discard(number)
        if self._clock() > self._cleaned + _CLEANING:
            self._cleaned = self._clock()
            self._clean()

    def index(self, run: Run) -> LogIndex:
        path = self._root / str(run.id)
        path.mkdir(parents=True, exist_ok=True)
        return LogIndex(path, run.token)

    def update(self, run: Run) -> bool:
        """Index the next lines of a run; return whether there may be more later."""
        read = gevent.get_hub().threadpool.apply(
            self.index(run).update, (), {"is_over": not run.is_active}
        )
        if read or not run.is_active:
            self._changed.pop(run.id, Event()).set()
        return bool(read) or run.is_active

    def next_change(self, run: Run) -> Event:
        """Return what is set when the log of a run has more lines, or the run is over."""
        return self._changed.setdefault(run.id, Event())

    def _clean(self) -> None:
        pool, oldest = gevent.get_hub().threadpool, self._clock() - _KEPT
        for number in pool.apply(_with_logs, (self._root,)):
            run = self._runs.find(number)
            if run is not None and run.ended is not None and run.ended < oldest:
                pool.apply(_remove_log, (self._root / str(number),))


def _with_logs(root: Path) -> list[int]:
    """Return the runs that have a log; there may be very many runs without one."""
    with suppress(FileNotFoundError), os.scandir(root) as entries:
        names = [entry.name for entry in entries if entry.name.isdecimal()]
        return [int(name) for name in names if (root / name / LOG).exists()]
    return []


def _remove_log(folder: Path) -> None:
    for name in (INDEX, f"{INDEX}-wal", f"{INDEX}-shm", LOG):
        (folder / name).unlink(missing_ok=True)
