"""The API for programs: tasks and runs as JSON."""

from __future__ import annotations

from dataclasses import asdict
from time import time
from typing import Any

from flask import Response, jsonify, request
from werkzeug.exceptions import BadRequest, Conflict, NotFound

from ...errors import StateError
from ..runs.cron import task_times
from ..runs.steering import COMMANDS, Steering
from ..store.database import Database
from ..store.runs import Run, Runs
from ..store.tasks import Task, Tasks
from .answers import RunAnswer, RunsAnswer, TaskAnswer, TasksAnswer
from .openapi import openapi
from .visitor import Route, session

_MOST = 200
_LONGEST_KEY = 200


class Api:
    """*others* are routes of the API that pages have."""

    def __init__(self, database: Database, steering: Steering, others: list[Route]) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._steering = steering
        self._others = [route for route in others if route.rule.startswith("/api/")]

    def routes(self) -> list[Route]:
        root = "/api/v1"
        return [
            Route(f"{root}/openapi.json", "GET", self.description, "viewer", "This description."),
            Route(
                f"{root}/tasks",
                "GET",
                self.tasks,
                "viewer",
                "All tasks, or the one with a name.",
                TasksAnswer,
                ("name",),
            ),
            Route(f"{root}/tasks/<int:task>", "GET", self.task, "viewer", "A task.", TaskAnswer),
            Route(
                f"{root}/tasks/<int:task>/run",
                "POST",
                self.run_task,
                "operator",
                "Queue a run; one Idempotency-Key queues one run.",
                RunAnswer,
            ),
            Route(
                f"{root}/runs",
                "GET",
                self.runs,
                "viewer",
                "Runs, the last ones first.",
                RunsAnswer,
                ("task", "before", "most"),
            ),
            Route(f"{root}/runs/<int:run>", "GET", self.run, "viewer", "A run.", RunAnswer),
            *(self._command(root, command) for command in COMMANDS),
        ]

    def description(self) -> Response:
        return jsonify(openapi([*self.routes(), *self._others]))

    def tasks(self) -> Response:
        name = request.args.get("name", "")
        found = [task for task in self._tasks.all() if name in ("", task.name)]
        return _answer(TasksAnswer([_of_task(task) for task in found]))

    def task(self, task: int) -> Response:
        return _answer(_of_task(self._found_task(task)))

    def run_task(self, task: int) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if len(key) > _LONGEST_KEY:
            raise BadRequest(f"an Idempotency-Key has at most {_LONGEST_KEY} characters")
        user, found = session().user, self._found_task(task)
        number = self._runs.ask(
            found, now=time(), who=user.name, key=f"{user.id} {key}" if key else ""
        )
        return self.run(number)

    def runs(self) -> Response:
        most = min(max(request.args.get("most", 50, int), 1), _MOST)
        before = request.args.get("before", 0, int)
        runs = self._runs.page(request.args.get("task", 0, int), before, most)
        older = runs[-1].id if len(runs) == most else 0
        return _answer(RunsAnswer([self._of_run(run) for run in runs], older))

    def run(self, run: int) -> Response:
        return _answer(self._of_run(self._found_run(run)))

    def _command(self, root: str, command: str) -> Route:
        def do(run: int) -> Response:
            try:
                after = self._steering.do(command, self._found_run(run), session().user.name)
            except StateError as error:
                raise Conflict(str(error)) from error
            return self.run(after)

        text = {
            "pause": "Take nothing new, and finish what is in flight.",
            "resume": "Go on; if the run is over, with a new run of its job.",
            "restart": "Stop, and go on with a new run of the job.",
            "stop": "Finish what is in flight, and end; resume continues.",
        }
        rule = f"{root}/runs/<int:run>/{command}"
        return Route(rule, "POST", do, "operator", text[command], RunAnswer)

    def _of_run(self, run: Run) -> RunAnswer:
        task = self._tasks.find(run.task)
        return RunAnswer.of(run, task.name if task else "")

    def _found_task(self, task: int) -> Task:
        found = self._tasks.find(task)
        if found is None:
            raise NotFound("There is no such task.")
        return found

    def _found_run(self, run: int) -> Run:
        found = self._runs.find(run)
        if found is None:
            raise NotFound("There is no such run.")
        return found


def _of_task(task: Task) -> TaskAnswer:
    return TaskAnswer.of(task, task_times(task, time(), 5))


def _answer(value: Any) -> Response:
    return jsonify(asdict(value))
