"""Commands of programs for runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Response
from werkzeug.exceptions import Conflict

from ...errors import StateError
from ..runs.steering import COMMANDS, Steering
from ..store.database import Database
from ..store.runs import Run, Runs
from ..store.tasks import Tasks
from .answers import DelayGiven, RetryGiven, RunAnswer
from .api_input import Invalid, answer, read_body
from .lookup import lookup
from .visitor import Route, session

_TEXTS = {
    "pause": "Take nothing new, and finish what is in flight.",
    "resume": "Go on; if the run is over, with a new run of its job.",
    "restart": "Stop, and go on with a new run of the job.",
    "stop": "Finish what is in flight, and end; resume continues.",
    "retry-failed": "Fetch again what has failed in the job of a run that is over, with a new run.",
    "afresh": "Start the job of a run that is over from nothing; its state and records are deleted.",
    "delay": "Leave seconds between two requests of a run that goes on to a host.",
}


class CommandApi:
    def __init__(self, database: Database, steering: Steering) -> None:
        self._tasks, self._runs = Tasks(database), Runs(database)
        self._steering = steering

    def routes(self) -> list[Route]:
        return [
            *(self._route(name, partial(self.steer, name)) for name in COMMANDS),
            self._route("retry-failed", self.retry_failed, body=RetryGiven),
            self._route("afresh", self.afresh),
            self._route("delay", self.delay, body=DelayGiven),
        ]

    def steer(self, command: str, run: int) -> Response:
        return self._done(lookup(self._runs, run), partial(self._steering.do, command))

    def retry_failed(self, run: int) -> Response:
        found, given = lookup(self._runs, run), read_body(RetryGiven)
        return self._done(found, self._steering.retry_failed, given.reason)

    def afresh(self, run: int) -> Response:
        return self._done(lookup(self._runs, run), self._steering.afresh)

    def delay(self, run: int) -> Response:
        found, given = lookup(self._runs, run), read_body(DelayGiven)
        return self._done(found, self._steering.set_delay, given.host, given.seconds)

    def _done(self, run: Run, command: Callable[..., int], *given: Any) -> Response:
        """Give a command to a run, and answer with the run that comes of it."""
        try:
            after = command(run, session().user.name, *given)
        except ValueError as error:
            raise Invalid({"body": str(error)}) from error
        except StateError as error:
            raise Conflict(str(error)) from error
        found = lookup(self._runs, after)
        task = self._tasks.find(found.task)
        return answer(RunAnswer.of(found, task.name if task else ""))

    def _route(self, name: str, page: Callable[..., Response], body: Any = None) -> Route:
        rule = f"/api/v1/runs/<int:run>/{name}"
        return Route(rule, "POST", page, "operator", _TEXTS[name], RunAnswer, body=body)
