"""Runs for programs: their states, errors, URLs and records, and commands for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Response, jsonify, request
from werkzeug.exceptions import Conflict

from ...errors import StateError
from ..runs.run_view import RunView
from ..runs.steering import COMMANDS, Steering
from ..store.database import Database
from ..store.runs import Run, Runs
from ..store.tasks import Tasks
from .answers import (
    ErrorsAnswer,
    RecordsAnswer,
    RetryGiven,
    RunAnswer,
    RunsAnswer,
    UrlsAnswer,
)
from .api_input import Invalid, answer, number_in_query, read_body
from .lookup import lookup
from .visitor import Route, hidden, session

_MOST = 200
#: The most URLs or records of an answer, and the largest place in a file or list.
_MOST_ROWS, _LARGEST = 1000, 1 << 62
_TEXTS = {
    "pause": "Take nothing new, and finish what is in flight.",
    "resume": "Go on; if the run is over, with a new run of its job.",
    "restart": "Stop, and go on with a new run of the job.",
    "stop": "Finish what is in flight, and end; resume continues.",
}


class RunApi:
    def __init__(self, database: Database, view: RunView, steering: Steering) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._view = view
        self._steering = steering

    def routes(self) -> list[Route]:
        all_runs = "/api/v1/runs"
        one, page = f"{all_runs}/<int:run>", ("after", "most")
        last, by_line = "Runs, the last ones first.", "Errors of callbacks, by line of code."
        again = "Fetch again what has failed in the job of a run that is over, with a new run."
        urls, rows = "URLs with an outcome and a reason.", "Records, if they are JSON Lines."
        return [
            Route(
                all_runs,
                "GET",
                self.all,
                "viewer",
                last,
                RunsAnswer,
                ("task", "state", "before", "most"),
            ),
            Route(one, "GET", self.run, "viewer", "A run.", RunAnswer),
            Route(f"{one}/errors", "GET", self.errors, "viewer", by_line, ErrorsAnswer),
            Route(
                f"{one}/urls",
                "GET",
                self.urls,
                "viewer",
                urls,
                UrlsAnswer,
                ("outcome", "reason", *page),
            ),
            Route(f"{one}/records", "GET", self.records, "viewer", rows, RecordsAnswer, page),
            *(self._command(f"{one}/{name}", name) for name in COMMANDS),
            Route(
                f"{one}/retry-failed",
                "POST",
                self.retry_failed,
                "operator",
                again,
                RunAnswer,
                body=RetryGiven,
            ),
        ]

    def all(self) -> Response:
        most = max(1, number_in_query("most", 50, _MOST))
        before = number_in_query("before", 0, _LARGEST)
        task, state = number_in_query("task", 0, _LARGEST), request.args.get("state", "")
        runs = self._runs.page(before, most, task=task, state=state, hidden=hidden())
        older = runs[-1].id if len(runs) == most else 0
        return answer(RunsAnswer([self._of_run(run) for run in runs], older))

    def run(self, run: int) -> Response:
        return answer(self._of_run(lookup(self._runs, run)))

    def errors(self, run: int) -> Response:
        return answer(ErrorsAnswer(list(self._view.figures(lookup(self._runs, run)).errors)))

    def urls(self, run: int) -> Response:
        after, most = _page()
        wanted = (request.args.get("outcome") or None, request.args.get("reason") or None)
        found = self._view.urls(lookup(self._runs, run), *wanted, after, most)
        more = after + most if len(found) == most else 0
        return jsonify(urls=[story.to_dict() for story in found], after=more)

    def records(self, run: int) -> Response:
        try:
            found, after = self._view.records(lookup(self._runs, run), *_page())
        except ValueError as error:
            raise Conflict(str(error)) from error
        return answer(RecordsAnswer(found, after))

    def _command(self, rule: str, command: str) -> Route:
        do = partial(self._do, command)
        return Route(rule, "POST", do, "operator", _TEXTS[command], RunAnswer)

    def _do(self, command: str, run: int) -> Response:
        return self._done(lookup(self._runs, run), partial(self._steering.do, command))

    def retry_failed(self, run: int) -> Response:
        found, given = lookup(self._runs, run), read_body(RetryGiven)
        return self._done(found, self._steering.retry_failed, given.reason)

    def _done(self, run: Run, command: Callable[..., int], *given: Any) -> Response:
        """Give a command to a run, and answer with the run that comes of it."""
        try:
            after = command(run, session().user.name, *given)
        except ValueError as error:
            raise Invalid({"body": str(error)}) from error
        except StateError as error:
            raise Conflict(str(error)) from error
        return self.run(after)

    def _of_run(self, run: Run) -> RunAnswer:
        task = self._tasks.find(run.task)
        return RunAnswer.of(run, task.name if task else "")


def _page() -> tuple[int, int]:
    return number_in_query("after", 0, _LARGEST), max(1, number_in_query("most", 100, _MOST_ROWS))
