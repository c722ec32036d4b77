"""TaskEditor: adds and changes tasks, for pages and programs alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import time

from ..projects.spider_sources import SpiderSources
from ..store.database import Database
from ..store.grants import NOTHING_HIDDEN, Hidden
from ..store.tasks import Task, Tasks


class TaskEditor:
    def __init__(
        self, database: Database, sources: SpiderSources, clock: Callable[[], float] = time
    ) -> None:
        self._tasks = Tasks(database)
        self._sources = sources
        self._clock = clock

    def problems(self, task: Task, hidden: Hidden = NOTHING_HIDDEN) -> dict[str, str]:
        """
        Return by field what is wrong with a task; empty if it can be saved.

        The spiders of *hidden* projects are not there for it.
        """
        found = task.problems()
        if problem := self._sources.problem(task, hidden):
            found["spider"] = problem
        if any(one.name == task.name and one.id != task.id for one in self._tasks.all()):
            found["name"] = f"there is a task {task.name!r} already"
        return found

    def save(self, task: Task, who: str, *, unless_changed: Task | None = None) -> Task:
        """
        Save a task without problems; return it with its number.

        Raise StateError if the task in the store is not *unless_changed* any more.
        """
        number = self._tasks.save(task, now=self._clock(), who=who, unless_changed=unless_changed)
        return replace(task, id=number)
