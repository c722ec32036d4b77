"""Home, and the pages of tasks."""

from __future__ import annotations

from dataclasses import replace
from time import time
from typing import Any
from urllib.parse import urlencode
from zoneinfo import available_timezones

from flask import Response, redirect, request
from werkzeug.exceptions import Conflict

from ..projects.spider_sources import SpiderSources
from ..rendering import render
from ..runs.cron import task_times
from ..runs.task_editor import TaskEditor
from ..store.database import Database
from ..store.runs import Runs
from ..store.tasks import Task, Tasks
from .api_input import etag_of
from .lookup import lookup, shown
from .visitor import Route, hidden, session

#: The number of tasks on the first page, and of last runs of each.
_MOST, _FEW = 50, 10
#: What the choices of a task mean.
_WORDS = {
    "overlap": {
        "skip": "leave this time out",
        "queue": "run after it",
        "parallel": "run beside it",
    },
    "misfire": {"once": "run once, if at most an hour late", "skip": "leave the time out"},
    "if_lost": {"resume": "continue its job, at most 3 times", "fail": "leave it"},
}


class TaskPages:
    def __init__(self, database: Database, sources: SpiderSources, editor: TaskEditor) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._sources = sources
        self._editor = editor

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
        name, after = request.args.get("name", "").strip()[:64], request.args.get("after", "")
        found = self._tasks.page(name, after, _MOST + 1, hidden())
        active = shown(self._runs.active())
        return render(
            "site/home.html",
            tasks=[
                (task, task_times(task, time(), 1), shown(self._runs.of_task(task.id, _FEW)))
                for task in found[:_MOST]
            ],
            name=name,
            is_part=bool(name or after or found[_MOST:]),
            more=urlencode({"name": name, "after": found[_MOST - 1].name}) if found[_MOST:] else "",
            names={run.id: self._runs.name(run) for run in active},
            active=active,
            alarms=shown(self._sources.builds.alarms.open()),
            session=session(),
        )

    def page(self, task: int) -> str:
        found = lookup(self._tasks, task)
        return render(
            "site/task.html",
            task=found,
            words=_WORDS,
            times=task_times(found, time(), 5),
            runs=shown(self._runs.of_task(task)),
            session=session(),
        )

    def new_form(self) -> str:
        return self._form(Task(""), {})

    def edit_form(self, task: int) -> str:
        return self._form(lookup(self._tasks, task), {})

    def save(self, task: int = 0) -> Response | str:
        before = lookup(self._tasks, task) if task else None
        given, problems = _read(before or Task(""))
        problems = self._editor.problems(given, hidden()) | problems
        if problems or "show" in request.form:
            return self._form(given, problems)
        if before and request.form.get("etag", etag_of(before)) != etag_of(before):
            raise Conflict("Somebody else has changed the task meanwhile: open the form again.")
        saved = self._editor.save(given, session().user.name, unless_changed=before)
        return redirect(f"/tasks/{saved.id}/", 303)

    def run(self, task: int) -> Response:
        run = self._runs.ask(lookup(self._tasks, task), now=time(), who=session().user.name)
        return redirect(f"/runs/{run}/", 303)

    def _form(self, task: Task, problems: dict[str, str]) -> str:
        return render(
            "site/task_form.html",
            task=task,
            words=_WORDS,
            problems=problems,
            typed={name: request.form.get(name, "") for name in _PAIRS if name in problems},
            etag=request.form.get("etag", etag_of(task)),
            times=[] if "zone" in problems else task_times(task, time(), 5),
            choices=self._sources.choices(hidden()),
            zones=[(zone, zone) for zone in sorted(available_timezones())],
            session=session(),
        )


def _read(before: Task) -> tuple[Task, dict[str, str]]:
    """Return the task in the form, which was *before*, and what in it cannot be read."""
    blank = Task("")
    text: dict[str, Any] = {
        name: str(request.form.get(name, getattr(blank, name))).strip()[:4000] for name in _TEXTS
    }
    source, _, spider = str(request.form.get("spider", "")).strip()[:4000].rpartition(" ")
    given = Task(
        **text,
        source=source,
        spider=spider,
        urls=tuple(str(request.form.get("urls", "")).split()),
        gates=tuple(filter(None, map(str.strip, str(request.form.get("gates", "")).splitlines()))),
        enabled="enabled" in request.form,
        agents=before.agents,
        id=before.id,
    )
    problems: dict[str, str] = {}
    for name in _PAIRS:
        try:
            pairs: dict[str, Any] = {name: _pairs(str(request.form.get(name, "")))}
            given = replace(given, **pairs)
        except ValueError as error:
            problems[name] = str(error)
    return given, problems


#: The fields that have lines such as NAME=VALUE, and those that are one text.
_PAIRS = ("arguments", "settings")
_TEXTS = ("name", "output", "cron", "zone", "overlap", "misfire", "if_lost", "note")


def _pairs(text: str) -> dict[str, str]:
    """Return the pairs of lines such as NAME=VALUE."""
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"each line needs NAME=VALUE, not {line!r}")
        found[name.strip()] = value.strip()
    return found
