"""What the API answers: each class is a schema of its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import ConfigDict

from ...module.errors_by_line import ErrorLine
from ..projects.tag_pattern import DEFAULT
from ..store.projects import BuiltVersion, Project
from ..store.runs import Run
from ..store.tasks import Task

#: A field that is not known is an error.
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class RunAnswer:
    """
    A run: its state is queued, running, finished, failed, stopped or lost.

    *start* is "retry" if it fetches again what has failed, for one *reason* unless that is "",
    and "fresh" if its job starts over.
    """

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
    #: Since when nothing of it has ended, though it could.
    stalled: str | None
    start: str
    reason: str

    @classmethod
    def of(cls, run: Run, task: str) -> RunAnswer:
        moments = (iso(run.asked) or "", iso(run.began), iso(run.ended))
        return cls(
            run.id,
            task,
            run.number,
            run.job,
            run.state,
            run.asked_by,
            *moments,
            run.exit,
            iso(run.stalled),
            run.start,
            run.reason,
        )


@dataclass(frozen=True)
class RetryGiven:
    """What to fetch again: what has failed for a *reason* such as http_500, or all if it is empty."""

    __pydantic_config__ = _STRICT

    reason: str = ""


@dataclass(frozen=True)
class DelayGiven:
    """The *seconds*, 0 to 86400, between two requests to a *host* such as example.org."""

    __pydantic_config__ = _STRICT

    host: str
    seconds: float


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
    if_lost: str
    note: str
    enabled: bool
    next: list[str]

    @classmethod
    def of(cls, task: Task, times: list[float]) -> TaskAnswer:
        names = [name for name in cls.__dataclass_fields__ if name != "next"]
        next_times = [iso(at) or "" for at in times]
        return cls(**{name: getattr(task, name) for name in names}, next=next_times)


@dataclass(frozen=True)
class TaskGiven:
    """A task as programs send it; what is left out has the default."""

    __pydantic_config__ = _STRICT

    name: str
    source: str = ""
    spider: str = ""
    urls: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    output: str = "items.jsonl"
    gates: tuple[str, ...] = ()
    cron: str = ""
    zone: str = "UTC"
    overlap: str = "skip"
    misfire: str = "once"
    if_lost: str = "resume"
    note: str = ""
    enabled: bool = True


@dataclass(frozen=True)
class ProjectGiven:
    """A project as programs send it; *secret* is the password, token or key of its login."""

    __pydantic_config__ = _STRICT

    name: str
    url: str
    login: str = ""
    user: str = ""
    pattern: str = DEFAULT
    #: The names of those who may see and use it besides admins; everybody if there is none.
    grants: tuple[str, ...] = ()
    secret: str | None = None


@dataclass(frozen=True)
class ProjectAnswer:
    """A project; its secrets are never sent."""

    id: int
    name: str
    url: str
    login: str
    user: str
    pattern: str
    grants: tuple[str, ...]

    @classmethod
    def of(cls, project: Project) -> ProjectAnswer:
        return cls(*(getattr(project, name) for name in cls.__dataclass_fields__))


@dataclass(frozen=True)
class ProjectsAnswer:
    projects: list[ProjectAnswer]


@dataclass(frozen=True)
class VersionAnswer:
    """
    A version of a project: asked, fetching, building, checking, ready or failed.

    *log* is the end of the log of its build; lists leave it out.
    """

    id: int
    project: int
    version: str
    tag: str
    commit: str
    state: str
    digest: str
    spiders: tuple[str, ...]
    reason: str
    asked: str
    log: str = ""

    @classmethod
    def of(cls, version: BuiltVersion) -> VersionAnswer:
        known = {name: getattr(version, name) for name in cls._SAME}
        return cls(**known, asked=iso(version.at) or "")

    _SAME = ("id", "project", "version", "tag", "commit", "state", "digest", "spiders", "reason")


@dataclass(frozen=True)
class VersionsAnswer:
    versions: list[VersionAnswer]


@dataclass(frozen=True)
class FoundAnswer:
    """How many new versions were found."""

    new: int


@dataclass(frozen=True)
class ErrorsAnswer:
    """Errors of callbacks and pipelines, by line of code."""

    errors: list[ErrorLine]


@dataclass(frozen=True)
class UrlsAnswer:
    """URLs with their outcomes; give *after* to get more, unless it is 0."""

    urls: list[dict[str, Any]]
    after: int


@dataclass(frozen=True)
class RecordsAnswer:
    """Records of the output; give *after* to get those that follow."""

    records: list[Any]
    after: int


@dataclass(frozen=True)
class UserAnswer:
    id: int
    name: str
    role: str


@dataclass(frozen=True)
class UsersAnswer:
    users: list[UserAnswer]


@dataclass(frozen=True)
class TokenAnswer:
    """A token; only its hash is known."""

    id: int
    name: str
    user: str
    scope: str
    expires: str
    used: str | None


@dataclass(frozen=True)
class TokensAnswer:
    tokens: list[TokenAnswer]


@dataclass(frozen=True)
class AuditRow:
    at: str
    who: str
    what: str


@dataclass(frozen=True)
class AuditAnswer:
    audit: list[AuditRow]


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
class SchedulerAnswer:
    """A process that works on a cluster job; it was seen *age* seconds ago."""

    id: str
    age: float
    shards: int
    done: int
    status: str
    in_flight: int
    held: list[int]


@dataclass(frozen=True)
class ShardAnswer:
    """A shard of a cluster job; its state is held, free or waiting."""

    shard: int
    state: str
    scheduler: str
    pending: int
    done: int
    batches: int
    inbox_bytes: int
    takeovers: int


@dataclass(frozen=True)
class AskedAnswer:
    """The last command, and of each scheduler whether it is done, waits or is silent."""

    command: str
    by: str
    at: float
    of: Mapping[str, str]


@dataclass(frozen=True)
class ClusterJobAnswer:
    """A cluster job; *away* says why its figures, which are of the time *at*, are old."""

    job: str
    status: str
    seconds: float
    queue: Mapping[str, int]
    shards: int
    free_shards: int
    inbox_bytes: int
    log_bytes: int
    collector_lag: float
    redis_bytes: int
    takeovers: int
    schedulers: list[SchedulerAnswer]
    asked: AskedAnswer | None
    shard_table: list[ShardAnswer]
    at: float
    away: str


@dataclass(frozen=True)
class ClusterAnswer:
    jobs: list[ClusterJobAnswer]


@dataclass(frozen=True)
class Problem:
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"
    #: By field, what is wrong with what was sent.
    errors: Mapping[str, str] = field(default_factory=dict)


def iso(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat()
