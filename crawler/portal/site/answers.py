"""What the API answers: each class is a schema of its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ..store.runs import Run
from ..store.tasks import Task


@dataclass(frozen=True)
class RunAnswer:
    """A run: its state is queued, running, finished, failed, stopped or lost."""

    id: int
    task: str
    number: int
    job: int
    state: str
    asked_by: str
    asked: str
    began: str | None
    ended: str | None
    exit: int | None

    @classmethod
    def of(cls, run: Run, task: str) -> RunAnswer:
        moments = (iso(run.asked) or "", iso(run.began), iso(run.ended))
        return cls(
            run.id, task, run.number, run.job, run.state, run.asked_by, *moments, exit=run.exit
        )


@dataclass(frozen=True)
class TaskAnswer:
    """A task, with its next times in UTC."""

    id: int
    name: str
    source: str
    spider: str
    urls: tuple[str, ...]
    arguments: Mapping[str, str]
    settings: Mapping[str, str]
    output: str
    gates: tuple[str, ...]
    cron: str
    zone: str
    overlap: str
    misfire: str
    note: str
    enabled: bool
    next: list[str]

    @classmethod
    def of(cls, task: Task, times: list[float]) -> TaskAnswer:
        names = [name for name in cls.__dataclass_fields__ if name != "next"]
        next_times = [iso(at) or "" for at in times]
        return cls(**{name: getattr(task, name) for name in names}, next=next_times)


@dataclass(frozen=True)
class TasksAnswer:
    tasks: list[TaskAnswer]


@dataclass(frozen=True)
class RunsAnswer:
    """Runs, the last ones first; give *before* to get older ones, unless it is 0."""

    runs: list[RunAnswer]
    before: int


@dataclass(frozen=True)
class LineAnswer:
    id: int
    ts: str
    level: str
    logger: str
    request: str
    host: str
    url: str
    message: str
    trace: str


@dataclass(frozen=True)
class LogAnswer:
    """Lines of a log, oldest first; give *before* to get older ones, unless it is 0."""

    lines: list[LineAnswer]
    dropped: int
    before: int


@dataclass(frozen=True)
class Problem:
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"


def iso(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat()
