"""UnusedVersions: removes the files of versions that no task has needed for long."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable
from time import time

import gevent

from ..store.database import Database
from ..store.projects import BuiltVersion, Project
from ..store.runs import Runs
from ..store.tasks import Tasks
from .builds import Builds

log = logging.getLogger(__name__)

#: Seconds between two looks, and without a use after which a version goes.
_INTERVAL, _KEPT = 3600.0, 90 * 86400.0


class UnusedVersions:
    """A version stays if a task names it, if it is the latest, or if it was built or run lately."""

    def __init__(
        self, database: Database, builds: Builds, clock: Callable[[], float] = time
    ) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._builds = builds
        self._clock = clock

    def serve(self) -> None:
        """Look for ever."""
        while True:
            gevent.sleep(_INTERVAL)
            try:
                self.step()
            except (OSError, sqlite3.Error) as error:  # tried again
                log.warning("the portal could not remove old versions: %s", error)

    def step(self) -> None:
        used, named = self._runs.last_of_sources(), {task.source for task in self._tasks.all()}
        for project in self._builds.projects.all():
            latest = self._builds.versions.chosen(project.id, "latest")
            for version in self._builds.versions.of_project(project.id):
                source = f"{project.name}@{version.version}"
                last = max(version.at, used.get(source, 0.0))
                is_old = version.state in ("ready", "failed") and last < self._clock() - _KEPT
                if is_old and source not in named and version != latest:
                    self._remove(project, version)

    def _remove(self, project: Project, version: BuiltVersion) -> None:
        # The row first: a task must not choose what is half gone.
        self._builds.versions.set_removed(version.id, self._clock())
        shutil.rmtree(self._builds.path(version), ignore_errors=True)
        log.info("the files of %s %s were removed", project.name, version.version)
