"""The pages of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from flask import Response, jsonify, request, send_file
from werkzeug.exceptions import NotFound

from ...job.view import Story
from ..comparison import comparison
from ..rendering import SECTIONS, render, sections, why_page
from ..runs.run_view import RunView
from ..store.database import Database
from ..store.runs import STATES, Runs
from ..store.tasks import Task, Tasks
from .api_input import number_in_query, number_of
from .lookup import lookup, shown
from .page_updates import PageUpdates
from .visitor import Route, hidden, session

_MOST_URL = 4000
#: The number of runs on a page, and the largest number of one.
_MOST, _LARGEST = 50, 1 << 62
#: The buttons have the secret of a session, and updates are for all sessions.
_UPDATED = tuple(name for name in SECTIONS if name != "controls")


class RunPages:
    def __init__(self, database: Database, view: RunView) -> None:
        self._runs, self._tasks = Runs(database), Tasks(database)
        self._view = view
        self._updates = PageUpdates(
            self._sections, lambda run: not lookup(self._runs, run).is_active
        )

    def routes(self) -> list[Route]:
        return [
            Route("/runs", "GET", self.all, "viewer"),
            Route("/runs/<int:run>/", "GET", self.page, "viewer"),
            Route("/runs/<int:run>/events", "GET", self.events, "viewer"),
            Route("/runs/<int:run>/why", "GET", self.why, "viewer"),
            Route("/runs/<int:run>/output", "GET", self.output, "viewer"),
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

    def all(self) -> str:
        task = number_in_query("task", 0, _LARGEST)
        before, state = number_in_query("before", 0, _LARGEST), request.args.get("state", "")
        runs = self._runs.page(before, _MOST + 1, task=task, state=state, hidden=hidden())
        names = {one.id: one.name for one in shown(self._tasks.all())}
        older = {"task": task, "state": state, "before": runs[_MOST - 1].id} if runs[_MOST:] else {}
        return render(
            "site/runs.html",
            runs=runs[:_MOST],
            names=names,
            task=task,
            state=state,
            states=STATES,
            older=urlencode(older),
            session=session(),
        )

    def page(self, run: int) -> str:
        found = lookup(self._runs, run)
        figures = self._view.figures(found)
        return render(
            "site/run.html",
            row=found,
            task=self._tasks.find(found.task),
            run=figures,
            parts=sections(figures, is_live=found.is_active, has_log=True, csrf=session().csrf),
            failed=[one for one in figures.outcomes if one.status == "failed"],
            version=Task.from_json(found.spec).source,
            has_output=self._view.output(found).is_file(),
            session=session(),
        )

    def events(self, run: int) -> Response:
        found = lookup(self._runs, run)
        seen = request.headers.get("Last-Event-ID", request.args.get("seen", "0"))
        events = self._updates.watch(found.id, number_of(seen))
        return Response(events, mimetype="text/event-stream")

    def topic(self, name: str) -> dict[str, Any]:
        """Return the state and the queue of a run, for the stream of events."""
        found = lookup(self._runs, number_of(name))
        figures = self._view.figures(found)
        queue = figures.queue.to_dict()
        return {"state": figures.state, "queue": queue, "is_over": not found.is_active}

    def figures_as_json(self, run: int) -> Response:
        return jsonify(self._view.figures(lookup(self._runs, run)).to_dict())

    def why(self, run: int) -> str:
        url, stories = self._asked(run)
        return why_page(self._runs.name(lookup(self._runs, run)), url, stories, session())

    def why_as_json(self, run: int) -> Response:
        return jsonify([story.to_dict() for story in self._asked(run)[1]])

    def _asked(self, run: int) -> tuple[str, list[Story]]:
        """Return the URL that is asked for, and what happened to it."""
        found, url = lookup(self._runs, run), request.args.get("url", "").strip()[:_MOST_URL]
        return url, self._view.why(found, url) if url else []

    def output(self, run: int) -> Response:
        path = self._view.output(lookup(self._runs, run))
        if not path.is_file():
            raise NotFound("This run has written no records.")
        response: Response = send_file(
            path, as_attachment=True, mimetype="application/octet-stream"
        )
        return response

    def compare(self) -> str:
        pair = [lookup(self._runs, number_in_query(name, 0, _LARGEST)) for name in ("a", "b")]
        return render(
            "site/compare.html",
            rows=pair,
            names=[self._runs.name(run) for run in pair],
            figures=comparison(*map(self._view.figures, pair)),
            session=session(),
        )

    def _sections(self, run: int) -> Mapping[str, str]:
        found = lookup(self._runs, run)
        return sections(self._view.figures(found), _UPDATED, is_live=found.is_active, has_log=True)
