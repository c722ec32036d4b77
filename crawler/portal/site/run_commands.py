"""The buttons on the page of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flask import Response, redirect, request
from werkzeug.exceptions import BadRequest, Conflict

from ...errors import StateError
from ..runs.steering import COMMANDS, Steering
from ..store.database import Database
from ..store.runs import Runs
from .lookup import lookup
from .visitor import Route, session


class RunCommands:
    def __init__(self, database: Database, steering: Steering) -> None:
        self._runs = Runs(database)
        self._steering = steering

    def routes(self) -> list[Route]:
        pages: dict[str, Callable[[int], Response]] = {
            **{name: partial(self.steer, name) for name in COMMANDS},
            "retry-failed": self.retry_failed,
            "afresh": self.afresh,
            "delay": self.delay,
        }
        return [
            Route(f"/runs/<int:run>/{name}", "POST", page, "operator")
            for name, page in pages.items()
        ]

    def steer(self, command: str, run: int) -> Response:
        return self._do(run, partial(self._steering.do, command))

    def retry_failed(self, run: int) -> Response:
        return self._do(run, self._steering.retry_failed, request.form.get("reason", ""))

    def afresh(self, run: int) -> Response:
        lookup(self._runs, run)
        if request.form.get("sure") != "yes":
            raise BadRequest("Nothing was started: the box that says you are sure was not ticked.")
        return self._do(run, self._steering.afresh)

    def delay(self, run: int) -> Response:
        given = [request.form.get(name, "") for name in ("host", "seconds")]
        return self._do(run, self._steering.set_delay, *given)

    def _do(self, run: int, command: Callable[..., int], *given: str) -> Response:
        """Give a command to a run, and show the run that comes of it."""
        found = lookup(self._runs, run)
        try:
            after = command(found, session().user.name, *given)
        except ValueError as error:
            raise BadRequest(f"This cannot be done: {error}.") from error
        except StateError as error:
            raise Conflict(f"This cannot be done: {error}.") from error
        return redirect(f"/runs/{after}/", 303)
