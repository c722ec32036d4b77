"""The pages of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import gevent
from flask import Response, jsonify, redirect, request, send_file
from werkzeug.exceptions import Conflict, NotFound

from ...errors import JobError, StateError
from ...frontier import UrlCounts
from ...job.view import JobView, Story
from ..comparison import comparison
from ..figures import RunFigures, of_job
from ..rendering import render, sections, why_page
from ..runs.live_client import LiveClient
from ..runs.process import RunProcess
from ..runs.runner import Runner
from ..runs.steering import Steering
from ..store.database import Database
from ..store.runs import Run, Runs
from ..store.tasks import Task, Tasks
from .run_updates import RunUpdates
from .visitor import Route, session

Value = TypeVar("Value")

_MOST_URL = 4000


class RunPages:
    def __init__(self, database: Database, runner: Runner, steering: Steering) -> None:
        self._runs, self._tasks = Runs(database), Tasks(database)
        self._runner = runner
        self._steering = steering
        self._updates = RunUpdates(self._found, self._figures)

    def routes(self) -> list[Route]:
        return [
            Route("/runs/<int:run>/", "GET", self.page, "viewer"),
            Route("/runs/<int:run>/events", "GET", self.events, "viewer"),
            Route("/runs/<int:run>/why", "GET", self.why, "viewer"),
            Route("/runs/<int:run>/output", "GET", self.output, "viewer"),
            Route("/runs/<int:run>/pause", "POST", self.pause, "operator"),
            Route("/runs/<int:run>/resume", "POST", self.resume, "operator"),
            Route("/runs/<int:run>/stop", "POST", self.stop, "operator"),
            Route("/runs/<int:run>/restart", "POST", self.restart, "operator"),
            Route("/compare", "GET", self.compare, "viewer"),
            Route(
                "/api/v1/runs/<int:run>/figures",
                "GET",
                self.figures_as_json,
                "viewer",
                "Its figures.",
            ),
            Route(
                "/api/v1/runs/<int:run>/why",
                "GET",
                self.why_as_json,
                "viewer",
                "What happened to a URL.",
                query=("url",),
            ),
        ]

    def page(self, run: int) -> str:
        found = self._found(run)
        figures = self._figures(found)
        return render(
            "site/run.html",
            row=found,
            task=self._tasks.find(found.task),
            run=figures,
            parts=sections(figures, is_live=found.is_active, csrf=session().csrf),
            version=Task.from_json(found.spec).source,
            has_output=self._output(found).is_file(),
            session=session(),
        )

    def events(self, run: int) -> Response:
        found = self._found(run)
        seen = request.headers.get("Last-Event-ID", request.args.get("seen", "0"))
        events = self._updates.watch(found.id, int(seen) if seen.isdecimal() else 0)
        return Response(events, mimetype="text/event-stream")

    def figures_as_json(self, run: int) -> Response:
        return jsonify(self._figures(self._found(run)).to_dict())

    def why(self, run: int) -> str:
        url, stories = self._asked(run)
        return why_page(self._runs.name(self._found(run)), url, stories, files="/files/")

    def why_as_json(self, run: int) -> Response:
        return jsonify([story.to_dict() for story in self._asked(run)[1]])

    def _asked(self, run: int) -> tuple[str, list[Story]]:
        """Return the URL that is asked for, and what happened to it."""
        process = self._runner.process(self._found(run))
        url = request.args.get("url", "").strip()[:_MOST_URL]
        return url, _in_a_thread(_stories, process, url) if url else []

    def output(self, run: int) -> Response:
        path = self._output(self._found(run))
        if not path.is_file():
            raise NotFound("This run has written no records.")
        response: Response = send_file(
            path, as_attachment=True, mimetype="application/octet-stream"
        )
        return response

    def pause(self, run: int) -> Response:
        return self._steer(run, "pause")

    def resume(self, run: int) -> Response:
        return self._steer(run, "resume")

    def restart(self, run: int) -> Response:
        return self._steer(run, "restart")

    def stop(self, run: int) -> Response:
        return self._steer(run, "stop")

    def compare(self) -> str:
        pair = [self._found(request.args.get(name, 0, int)) for name in ("a", "b")]
        return render(
            "site/compare.html",
            rows=pair,
            names=[self._runs.name(run) for run in pair],
            figures=comparison(*map(self._figures, pair)),
            session=session(),
        )

    def _steer(self, run: int, command: str) -> Response:
        try:
            after = self._steering.do(command, self._found(run), session().user.name)
        except StateError as error:
            raise Conflict(f"This cannot be done: {error}.") from error
        return redirect(f"/runs/{after}/", 303)

    def _figures(self, run: Run) -> RunFigures:
        """Return the figures of a run: from its process, else from its job, else none."""
        process = self._runner.process(run)
        live = LiveClient(process).figures() if run.state == "running" else None
        is_starting = run.state == "running" and not process.live_url
        state = "starting" if is_starting else run.state
        return replace(live or _in_a_thread(_of_job, process, state), name=self._runs.name(run))

    def _found(self, run: int) -> Run:
        found = self._runs.find(run)
        if found is None:
            raise NotFound("There is no such run.")
        return found

    def _output(self, run: Run) -> Path:
        return self._runner.process(run).output_folder / Task.from_json(run.spec).output


def _stories(process: RunProcess, url: str) -> list[Story]:
    try:
        with JobView(process.job) as view:
            return view.why(url)
    except JobError:
        return []


def _of_job(process: RunProcess, state: str) -> RunFigures:
    """Return what the job of a run has committed; nothing if it has no job yet."""
    try:
        with JobView(process.job) as view:
            return replace(of_job(view), state=state)
    except JobError:
        return RunFigures(name="", state=state, end="", urls=UrlCounts(), summary={})


def _in_a_thread(function: Callable[..., Value], *arguments: object) -> Value:
    """Call *function* beside the hub: a large job takes a while to read."""
    value: Value = gevent.get_hub().threadpool.apply(function, arguments)
    return value
