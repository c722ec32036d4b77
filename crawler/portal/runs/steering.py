"""Steering: what a run can be asked to do, by pages and programs alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from time import time
from types import MappingProxyType

from ...errors import StateError
from ..host_delay import HostDelay
from ..store.database import Database
from ..store.runs import CONTINUED, Run, Runs, Start
from ..store.tasks import Tasks
from .live_client import LiveClient
from .runner import Runner

COMMANDS = ("pause", "resume", "restart", "stop")
_REASON = re.compile("[a-z0-9_]{0,100}")


class Steering:
    """Each command returns the run to look at, and raises StateError if the run cannot obey."""

    def __init__(
        self, database: Database, runner: Runner, clock: Callable[[], float] = time
    ) -> None:
        self._database = database
        self._runs, self._tasks = Runs(database), Tasks(database)
        self._runner = runner
        self._clock = clock

    def do(self, command: str, run: Run, who: str) -> int:
        self._database.audit(self._clock(), who, f"asked to {command} {self._runs.name(run)}")
        if command == "stop":
            return self._stop(run)
        if command == "restart":
            return self._restart(run, who)
        if command == "resume" and not run.is_active:
            return self._again(run, who)
        return self._send(command, run)

    def retry_failed(self, run: Run, who: str, reason: str = "") -> int:
        """
        Fetch again what has failed in the job of a run that is over, for one *reason* if it is given.

        Raise ValueError if that is not a reason.
        """
        if not _REASON.fullmatch(reason):
            raise ValueError("a reason has small letters, digits and _ only, such as http_500")
        return self._start(run, who, Start("retry", reason))

    def afresh(self, run: Run, who: str) -> int:
        """Start the job of a run that is over again from nothing; its records are replaced."""
        return self._start(run, who, Start("fresh"))

    def set_delay(self, run: Run, who: str, host: str, seconds: str | float) -> int:
        """
        Leave *seconds* between two requests of a run to *host* until the run ends.

        Raise ValueError, which says what is wrong with them.
        """
        delay = HostDelay.of(host, seconds)
        if run.state != "running":
            raise StateError("only a run that goes on has delays")
        what = f"set the delay of {delay.host} to {delay.seconds:g} s in {self._runs.name(run)}"
        self._database.audit(self._clock(), who, f"asked to {what}")
        return self._send("delay", run, {"host": delay.host, "seconds": repr(delay.seconds)})

    def _start(self, run: Run, who: str, start: Start) -> int:
        if any(other.job == run.job for other in self._runs.active()):
            raise StateError("a run of this job goes on or waits: stop it first")
        return self._again(run, who, start)

    def _send(self, command: str, run: Run, form: Mapping[str, str] = MappingProxyType({})) -> int:
        if not LiveClient(self._runner.process(run)).post(command, form):
            raise StateError(f"the run does not answer to {command}; it may have ended")
        return run.id

    def _stop(self, run: Run) -> int:
        if not run.is_active:
            raise StateError("the run is over")
        if run.state == "queued":
            self._runs.end(run, "stopped", None, self._clock())
        self._runner.process(run).stop()
        return run.id

    def _restart(self, run: Run, who: str) -> int:
        """Stop the run, and queue one that continues its job: it starts when this one has ended."""
        if run.state != "running":
            raise StateError("only a run that goes on can be restarted")
        again = self._again(run, who)
        self._runner.process(run).stop()
        return again

    def _again(self, run: Run, who: str, start: Start = CONTINUED) -> int:
        task = self._tasks.find(run.task)
        if task is None:
            raise StateError("the task of the run was removed")
        return self._runs.ask(task, now=self._clock(), who=who, job=run.job, start=start)
