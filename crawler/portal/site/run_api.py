"""Runs for programs: their states, errors, URLs and records."""

from __future__ import annotations

from flask import Response, jsonify, request
from werkzeug.exceptions import Conflict

from ..runs.run_view import RunView
from ..store.database import Database
from ..store.runs import Run, Runs
from ..store.tasks import Tasks
from .answers import (
    ErrorsAnswer,
    RecordsAnswer,
    RunAnswer,
    RunsAnswer,
    UrlsAnswer,
)
from .api_input import answer, number_in_query
from .lookup import lookup
from .visitor import Route, hidden

_MOST = 200
#: The most URLs or records of an answer, and the largest place in a file or list.
_MOST_ROWS, _LARGEST = 1000, 1 << 62


class RunApi:
    def __init__(self, database: Database, view: RunView) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._view = view

    def routes(self) -> list[Route]:
        all_runs = "/api/v1/runs"
        one, page = f"{all_runs}/<int:run>", ("after", "most")
        last, by_line = "Runs, the last ones first.", "Errors of callbacks, by line of code."
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

    def _of_run(self, run: Run) -> RunAnswer:
        task = self._tasks.find(run.task)
        return RunAnswer.of(run, task.name if task else "")


def _page() -> tuple[int, int]:
    return number_in_query("after", 0, _LARGEST), max(1, number_in_query("most", 100, _MOST_ROWS))
