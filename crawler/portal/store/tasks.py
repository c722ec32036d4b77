"""Tasks: what to crawl, how, and when."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from ...errors import StateError
from ...feed import check_feed
from ...report.gates import Gate
from ...settings import Settings
from .database import Database
from .grants import NOTHING_HIDDEN, Hidden, without

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
#: A file in the directory of a run, by its name alone.
OUTPUT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}(\.[a-z]+){1,2}")
_SOURCE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}@[0-9A-Za-z.!+_-]{1,64}")
_SPIDER = re.compile(r"(?![-./])[\w./-]+\.py:\w+")
#: Settings, and attributes of a spider, that name code: who may edit a task may not add code.
_CODE = frozenset({"pipelines", "middlewares", "download_middlewares", "settings"})
_PAIR = re.compile(r"[\w.]+")
OVERLAPS = ("skip", "queue", "parallel")
MISFIRES = ("once", "skip")
IF_LOST = ("resume", "fail")


@dataclass(frozen=True)
class Task:
    """
    A spider file, or URLs to crawl if there is none, with all that a run of it is given.

    *overlap* says what a time of *cron* does while a run goes on; *misfire*, what becomes of a
    time that passed while the portal was away; *if_lost*, what follows a run that was killed.
    """

    name: str
    #: PROJECT@VERSION, or PROJECT@latest; "" for the portal's own spider files.
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
    #: How many agents a run of it wants. Nothing can say so yet, and no run gets any.
    agents: int = 0
    id: int = 0

    def problems(self) -> dict[str, str]:
        """Return by field what is wrong with it, in words; empty if nothing is."""
        found = {
            "name": "" if NAME.fullmatch(self.name) else "lower-case letters, digits, - and _ only",
            "source": "" if not self.source or _SOURCE.fullmatch(self.source) else "not a version",
            "spider": "" if not self.spider or _SPIDER.fullmatch(self.spider) else "not a spider",
            "urls": self._wrong_urls(),
            "arguments": _wrong_pairs(self.arguments),
            "settings": _wrong_pairs(self.settings) or _wrong_settings(self.settings),
            "output": _wrong_output(self.output),
            "gates": _wrong_gates(self.gates),
            "cron": wrong_cron(self.cron),
            "zone": "" if self.zone in available_timezones() else "not a time zone",
            "overlap": "" if self.overlap in OVERLAPS else "not a choice",
            "misfire": "" if self.misfire in MISFIRES else "not a choice",
            "if_lost": "" if self.if_lost in IF_LOST else "not a choice",
        }
        return {name: text for name, text in found.items() if text}

    @property
    def project(self) -> str:
        """The name of the project that its spider is from; "" if it is from none."""
        return self.source.partition("@")[0]

    @property
    def tzinfo(self) -> ZoneInfo:
        return ZoneInfo(self.zone)

    def to_json(self) -> str:
        left_out = {"id", "enabled", "agents"}
        return json.dumps({k: v for k, v in asdict(self).items() if k not in left_out})

    @classmethod
    def from_json(cls, text: str, **known: Any) -> Task:
        names = {each.name for each in fields(cls)}
        values = {name: value for name, value in json.loads(text).items() if name in names}
        values |= {name: tuple(values.get(name, ())) for name in ("urls", "gates")}
        return cls(**values | known)

    def _wrong_urls(self) -> str:
        if not self.spider and not self.urls:
            return "a URL is needed if no spider is chosen"
        wrong = [url for url in self.urls if not re.fullmatch(r"https?://[^\s]+", url)]
        return f"{wrong[0]} is not an http or https URL" if wrong else ""


class Tasks:
    kind = "task"

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Task]:
        return [_task(row) for row in self._database.rows("SELECT * FROM task ORDER BY name")]

    def page(self, name: str, after: str, most: int, hidden: Hidden = NOTHING_HIDDEN) -> list[Task]:
        """Return tasks by name: those that have *name* in theirs, and come behind *after*."""
        rest, values = without(hidden)
        query = f"SELECT * FROM task WHERE instr(name, ?) AND name > ?{rest} ORDER BY name LIMIT ?"  # noqa: S608
        return [_task(row) for row in self._database.rows(query, name, after, *values, most)]

    def find(self, task: int) -> Task | None:
        row = self._database.row("SELECT * FROM task WHERE id = ?", task)
        return None if row is None else _task(row)

    def save(self, task: Task, *, now: float, who: str, unless_changed: Task | None = None) -> int:
        """
        Add the task, or change the one with its id; raise ValueError if its name is taken.

        Raise StateError if the one in the store is not *unless_changed* any more.
        """
        with self._database.transaction():
            if unless_changed is not None and self.find(task.id) != unless_changed:
                raise StateError("somebody else has changed the task meanwhile")
            query = "SELECT 1 FROM task WHERE name = ? AND id != ?"
            if self._database.row(query, task.name, task.id):
                raise ValueError(f"there is a task {task.name!r} already")
            self._database.audit(now, who, f"saved task {task.name}")
            values = (task.name, task.to_json(), task.enabled, now, task.agents)
            names = "(name, spec, enabled, checked, agents)"
            if not task.id:
                query = f"INSERT INTO task {names} VALUES (?, ?, ?, ?, ?)"  # noqa: S608
                return self._database.change(query, *values)
            query = f"UPDATE task SET {names} = (?, ?, ?, ?, ?) WHERE id = ?"  # noqa: S608
            self._database.change(query, *values, task.id)
            return task.id


def wrong_cron(line: str) -> str:
    """Return what is wrong with a cron line; "" if it is empty or right."""
    if not line:
        return ""
    if len(line.split()) != 5:
        return "five fields are needed: minute, hour, day, month, weekday"
    try:
        next(CronSim(line, datetime.now(UTC)))
    except (CronSimError, StopIteration):
        return "not a cron line such as 30 2 * * 1-5"
    return ""


def _wrong_pairs(pairs: Mapping[str, str]) -> str:
    if wrong := [name for name in pairs if not _PAIR.fullmatch(name)]:
        return f"{wrong[0]!r} is not a name"
    named = _CODE & {name.lower() for name in pairs}
    return f"{', '.join(named)} names code: set it in the spider" if named else ""


def _wrong_settings(settings: Mapping[str, str]) -> str:
    try:
        Settings.load(overrides=dict(settings))
    except ValueError as error:
        return str(error)
    return ""


def _wrong_output(name: str) -> str:
    if not OUTPUT.fullmatch(name):
        return "a plain file name such as items.jsonl is needed"
    try:
        check_feed(name)
    except ValueError as error:
        return str(error)
    return ""


def _wrong_gates(gates: tuple[str, ...]) -> str:
    try:
        for gate in gates:
            Gate.parse(gate)
    except ValueError as error:
        return str(error)
    return ""


def _task(row: sqlite3.Row) -> Task:
    known = {name: row[name] for name in ("id", "name", "agents")}
    return Task.from_json(row["spec"], enabled=bool(row["enabled"]), **known)
