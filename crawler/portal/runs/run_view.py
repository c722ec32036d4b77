"""RunView: what can be read of a run, from its process while it lives, else from its job."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import gevent

from ...errors import JobError
from ...frontier import UrlCounts
from ...job.view import JobView, Story
from ..figures import RunFigures, of_job
from ..store.runs import Run, Runs
from ..store.tasks import Task
from .live_client import LiveClient
from .process import RunProcess
from .runner import Runner

Value = TypeVar("Value")

#: How many bytes of an output are read for one answer at most.
_PIECE = 4 << 20


class RunView:
    def __init__(self, runner: Runner, runs: Runs) -> None:
        self._runner = runner
        self._runs = runs

    def figures(self, run: Run) -> RunFigures:
        """Return the figures of a run: from its process, else from its job, else none."""
        process = self._runner.process(run)
        live = LiveClient(process).figures() if run.state == "running" else None
        is_starting = run.state == "running" and not process.live_url
        state = "starting" if is_starting else run.state
        return replace(live or _in_a_thread(_of_job, process, state), name=self._runs.name(run))

    def host_states(self, run: Run) -> dict[str, int]:
        """Return how many hosts are in each state; nothing unless the run goes on."""
        return LiveClient(self._runner.process(run)).host_states() if run.state == "running" else {}

    def why(self, run: Run, url: str) -> list[Story]:
        """Return what happened to *url*."""
        return _in_a_thread(_read_job, self._runner.process(run), lambda view: view.why(url))

    def urls(
        self, run: Run, outcome: str | None, reason: str | None, after: int, most: int
    ) -> list[Story]:
        """Return *most* URLs with an outcome, after the first *after* of them."""

        def read(view: JobView) -> list[Story]:
            return list(islice(view.urls(outcome, reason), after, after + most))

        return _in_a_thread(_read_job, self._runner.process(run), read)

    def output(self, run: Run) -> Path:
        """Return the file with the records of a run, whether it is there or not."""
        return self._runner.process(run).output_folder / Task.from_json(run.spec).output

    def records(self, run: Run, after: int, most: int) -> tuple[list[Any], int]:
        """
        Return *most* records after the first *after* bytes of the output, and where the next begins.

        Raise ValueError if the output is not JSON Lines.
        """
        path = self.output(run)
        if path.suffix != ".jsonl":
            raise ValueError(f"{path.name} is not JSON Lines: download it from the page of the run")
        return _in_a_thread(_records, path, after, most)


def _records(path: Path, after: int, most: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    try:
        with path.open("rb") as file:
            file.seek(after)
            for line in file.read(_PIECE).splitlines(keepends=True)[:most]:
                if not line.endswith(b"\n"):
                    break
                found.append(json.loads(line))
                after += len(line)
    except (OSError, ValueError):  # there is none yet, or *after* is in the middle of a record
        return found, after
    return found, after


def _read_job(process: RunProcess, read: Callable[[JobView], list[Story]]) -> list[Story]:
    try:
        with JobView(process.job) as view:
            return read(view)
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
