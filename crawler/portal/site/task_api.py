"""Tasks for programs."""

from __future__ import annotations

from dataclasses import asdict, replace
from time import time
from typing import Any

from flask import Response, request
from werkzeug.exceptions import BadRequest, PreconditionFailed

from ...errors import StateError
from ..runs.cron import task_times
from ..runs.task_editor import TaskEditor
from ..store.database import Database
from ..store.runs import Runs
from ..store.tasks import Task, Tasks
from .answers import RunAnswer, TaskAnswer, TaskGiven, TasksAnswer
from .api_input import Invalid, answer, check_match, etag_of, read_body
from .lookup import lookup, shown
from .visitor import Route, hidden, session

_LONGEST_KEY = 200


class TaskApi:
    def __init__(self, database: Database, editor: TaskEditor) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._editor = editor

    def routes(self) -> list[Route]:
        all_tasks = "/api/v1/tasks"
        one = f"{all_tasks}/<int:task>"
        named = "All tasks, or the one with a name."
        once = "Queue a run; one Idempotency-Key queues one run."
        change = "Change a task: all of its fields. If-Match must have the ETag that was read."
        edit: Any = {"body": TaskGiven, "scope": "edit"}
        return [
            Route(all_tasks, "GET", self.all, "viewer", named, TasksAnswer, ("name",)),
            Route(
                all_tasks, "POST", self.add, "operator", "Add one.", TaskAnswer, **edit, status=201
            ),
            Route(one, "GET", self.task, "viewer", "A task, with an ETag.", TaskAnswer),
            Route(one, "PUT", self.change, "operator", change, TaskAnswer, **edit),
            Route(f"{one}/run", "POST", self.run, "operator", once, RunAnswer, is_once=True),
        ]

    def all(self) -> Response:
        name = request.args.get("name", "")
        found = [task for task in shown(self._tasks.all()) if name in ("", task.name)]
        return answer(TasksAnswer([_of_task(task) for task in found]))

    def task(self, task: int) -> Response:
        return _answer(lookup(self._tasks, task))

    def add(self) -> Response:
        saved = self._saved(Task(**asdict(read_body(TaskGiven))), None)
        return _answer(saved, status=201)

    def change(self, task: int) -> Response:
        before = lookup(self._tasks, task)
        check_match(etag_of(before))
        given = Task(**asdict(read_body(TaskGiven)), id=task, agents=before.agents)
        return _answer(self._saved(given, before))

    def run(self, task: int) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if len(key) > _LONGEST_KEY:
            raise BadRequest(f"an Idempotency-Key has at most {_LONGEST_KEY} characters")
        user, found = session().user, lookup(self._tasks, task)
        number = self._runs.ask(
            found, now=time(), who=user.name, key=f"{user.id} {key}" if key else ""
        )
        return answer(RunAnswer.of(lookup(self._runs, number), found.name))

    def _saved(self, task: Task, before: Task | None) -> Task:
        task = replace(task, urls=tuple(task.urls), gates=tuple(task.gates))
        if problems := self._editor.problems(task, hidden()):
            raise Invalid(problems)
        try:
            return self._editor.save(task, session().user.name, unless_changed=before)
        except StateError as error:
            raise PreconditionFailed(str(error)) from error


def _of_task(task: Task) -> TaskAnswer:
    return TaskAnswer.of(task, task_times(task, time(), 5))


def _answer(task: Task, status: int = 200) -> Response:
    return answer(_of_task(task), etag_of(task), status)
