"""Home, and the pages of tasks."""

from __future__ import annotations

from dataclasses import replace
from time import time
from typing import Any
from zoneinfo import available_timezones

from flask import Response, redirect, request
from werkzeug.exceptions import NotFound

from ..projects.spider_sources import SpiderSources
from ..rendering import render
from ..runs.cron import task_times
from ..store.database import Database
from ..store.runs import Runs
from ..store.tasks import Task, Tasks
from .visitor import Route, session

#: The number of last runs of each task on the first page.
_FEW = 10


class TaskPages:
    def __init__(self, database: Database, sources: SpiderSources) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._sources = sources

    def routes(self) -> list[Route]:
        return [
            Route("/", "GET", self.home, "viewer"),
            Route("/tasks/new", "GET", self.new_form, "operator"),
            Route("/tasks/new", "POST", self.save, "operator"),
            Route("/tasks/<int:task>/", "GET", self.page, "viewer"),
            Route("/tasks/<int:task>/edit", "GET", self.edit_form, "operator"),
            Route("/tasks/<int:task>/edit", "POST", self.save, "operator"),
            Route("/tasks/<int:task>/run", "POST", self.run, "operator"),
        ]

    def home(self) -> str:
        tasks = self._tasks.all()
        return render(
            "site/home.html",
            tasks=[
                (task, task_times(task, time(), 1), self._runs.of_task(task.id, _FEW))
                for task in tasks
            ],
            names={task.id: task.name for task in tasks},
            active=self._runs.active(),
            alarms=self._sources.builds.alarms.open(),
            session=session(),
        )

    def page(self, task: int) -> str:
        found = self._found(task)
        return render(
            "site/task.html",
            task=found,
            times=task_times(found, time(), 5),
            runs=self._runs.of_task(task),
            session=session(),
        )

    def new_form(self) -> str:
        return self._form(Task(""), {})

    def edit_form(self, task: int) -> str:
        return self._form(self._found(task), {})

    def save(self, task: int = 0) -> Response | str:
        given, problems = _read(task)
        if problem := self._sources.problem(given):
            problems["spider"] = problem
        if not problems and "show" not in request.form:
            try:
                saved = self._tasks.save(given, now=time(), who=session().user.name)
            except ValueError as error:
                problems["name"] = str(error)
            else:
                return redirect(f"/tasks/{saved}/", 303)
        return self._form(given, problems)

    def run(self, task: int) -> Response:
        run = self._runs.ask(self._found(task), now=time(), who=session().user.name)
        return redirect(f"/runs/{run}/", 303)

    def _form(self, task: Task, problems: dict[str, str]) -> str:
        return render(
            "site/task_form.html",
            task=task,
            problems=problems,
            times=[] if "zone" in problems else task_times(task, time(), 5),
            choices=self._sources.choices(),
            zones=[(zone, zone) for zone in sorted(available_timezones())],
            session=session(),
        )

    def _found(self, task: int) -> Task:
        found = self._tasks.find(task)
        if found is None:
            raise NotFound("There is no such task.")
        return found


def _read(task: int) -> tuple[Task, dict[str, str]]:
    """Return the task in the form, and what is wrong with it."""
    text: dict[str, Any] = {name: str(request.form.get(name, "")).strip()[:4000] for name in _TEXTS}
    source, _, spider = str(request.form.get("spider", "")).strip()[:4000].rpartition(" ")
    given = Task(
        **text,
        source=source,
        spider=spider,
        urls=tuple(str(request.form.get("urls", "")).split()),
        gates=tuple(filter(None, map(str.strip, str(request.form.get("gates", "")).splitlines()))),
        enabled="enabled" in request.form,
        id=task,
    )
    problems: dict[str, str] = {}
    for name in ("arguments", "settings"):
        try:
            pairs: dict[str, Any] = {name: _pairs(str(request.form.get(name, "")))}
            given = replace(given, **pairs)
        except ValueError as error:
            problems[name] = str(error)
    return given, given.problems() | problems


_TEXTS = ("name", "output", "cron", "zone", "overlap", "misfire", "note")


def _pairs(text: str) -> dict[str, str]:
    """Return the pairs of lines such as NAME=VALUE."""
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"each line needs NAME=VALUE, not {line!r}")
        found[name.strip()] = value.strip()
    return found
