"""The pages of cluster jobs: their schedulers and shards, and what they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import Response, jsonify, redirect, request
from markupsafe import Markup
from werkzeug.exceptions import Conflict, NotFound, ServiceUnavailable

from ...cluster.job_record import COMMANDS
from ...errors import ClusterError, RedisAway, StateError
from ..rendering import render, sections
from ..runs.cluster_jobs import ClusterJob, ClusterJobs
from .answers import ClusterAnswer, ClusterJobAnswer
from .api_input import number_of
from .page_updates import PageUpdates
from .visitor import Route, session

_SECTIONS = ("status", "asked", "schedulers", "shards")


class ClusterPages:
    """*jobs* is None in a portal without a Redis."""

    def __init__(self, jobs: ClusterJobs | None) -> None:
        self._jobs = jobs
        self._updates: PageUpdates[str] = PageUpdates(self._sections, self._is_over)

    def routes(self) -> list[Route]:
        one, api = "/cluster/<job>", "/api/v1/cluster"
        return [
            Route("/cluster", "GET", self.page, "viewer"),
            Route(f"{one}/", "GET", self.job, "viewer"),
            Route(f"{one}/events", "GET", self.events, "viewer"),
            Route(api, "GET", self.as_json, "viewer", "All cluster jobs.", ClusterAnswer),
            Route(
                f"{api}/<job>",
                "GET",
                self.job_as_json,
                "viewer",
                "A cluster job: its schedulers and shards, and who has done what was asked last.",
                ClusterJobAnswer,
            ),
            *(route for command in COMMANDS for route in self._command(command)),
        ]

    def page(self) -> str:
        jobs, problem, server = [], "", []
        if self._jobs is not None:
            try:
                jobs = self._jobs.all()
                server = self._jobs.findings()
            except ClusterError as error:
                problem = str(error)
        return render(
            "site/cluster.html",
            place=self._jobs.place if self._jobs else "",
            jobs=jobs,
            server=server,
            problem=problem,
            session=session(),
        )

    def job(self, job: str) -> str:
        found = self._found(job)
        return render(
            "site/cluster_job.html",
            job=found,
            parts=_parts(found),
            session=session(),
        )

    def events(self, job: str) -> Response:
        self._found(job)
        seen = request.headers.get("Last-Event-ID", request.args.get("seen", "0"))
        events = self._updates.watch(job, number_of(seen))
        return Response(events, mimetype="text/event-stream")

    def as_json(self) -> Response:
        try:
            found = self._jobs.all() if self._jobs else []
        except RedisAway as error:
            raise ServiceUnavailable(str(error)) from error
        return jsonify(jobs=[job.to_dict() for job in found])

    def job_as_json(self, job: str) -> Response:
        return jsonify(self._found(job).to_dict())

    def topic(self, name: str) -> dict[str, Any]:
        """Return the state and the queue of a job, for the stream of events."""
        found = self._found(name)
        state, done, asked = found.status["status"], *found.confirmed
        confirmed = {"done": done, "of": asked}
        queue = found.figures.queue.to_dict()
        is_over = state == "finished"
        return {"state": state, "queue": queue, "confirmed": confirmed, "is_over": is_over}

    def _command(self, command: str) -> list[Route]:
        text = {
            "pause": "Let all schedulers take nothing new, and finish what is in flight.",
            "resume": "Let all schedulers go on.",
            "restart": "Let each scheduler finish what is in flight, and start again.",
            "stop": "Let all schedulers finish what is in flight, and end.",
        }[command]
        return [
            Route(f"/cluster/<job>/{command}", "POST", partial(self._do, command), "operator"),
            Route(
                f"/api/v1/cluster/<job>/{command}",
                "POST",
                partial(self._do_for_program, command),
                "operator",
                text,
                ClusterJobAnswer,
            ),
        ]

    def _do(self, command: str, job: str) -> Response:
        self._send(command, job)
        return redirect(f"/cluster/{job}/", 303)

    def _do_for_program(self, command: str, job: str) -> Response:
        self._send(command, job)
        return self.job_as_json(job)

    def _send(self, command: str, job: str) -> None:
        self._found(job)
        if self._jobs is None:
            return
        try:
            self._jobs.command(command, job, session().user.name)
        except StateError as error:
            raise Conflict(f"This cannot be done: {error}.") from error
        except ClusterError as error:
            raise ServiceUnavailable(str(error)) from error

    def _found(self, job: str) -> ClusterJob:
        if self._jobs is None:
            raise NotFound("This portal has no Redis: start it with --redis.")
        try:
            return self._jobs.find(job)
        except LookupError as error:
            raise NotFound(str(error)) from error
        except RedisAway as error:
            raise ServiceUnavailable(str(error)) from error

    def _sections(self, job: str) -> Mapping[str, str]:
        return _parts(self._found(job))

    def _is_over(self, job: str) -> bool:
        try:
            return bool(self._found(job).status["status"] == "finished")
        except (NotFound, ServiceUnavailable):
            return True


def _parts(job: ClusterJob) -> Mapping[str, Markup]:
    own = {name: Markup(render(f"cluster/{name}.html", job=job)) for name in _SECTIONS}  # noqa: S704
    return {**own, **sections(job.figures, ("queue", "outcomes"), is_live=False, has_stories=False)}
