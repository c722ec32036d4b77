"""Projects: git repositories with spiders, and the versions that were built of them."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from ...errors import StateError
from .database import Database
from .secret_box import SecretBox

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
#: States of a version that is not there yet.
UNDER_WAY = ("asked", "fetching", "building", "checking")


@dataclass(frozen=True)
class Project:
    """
    *login* is "", "password" (also for tokens) or "key": how git signs in.

    *grants* are the names of those who may see and use it besides admins; everybody if empty.
    """

    id: int
    name: str
    url: str
    login: str
    user: str
    pattern: str
    grants: tuple[str, ...] = ()

    @property
    def project(self) -> str:
        """Its own name, as tasks, runs and alarms of a project have it."""
        return self.name


@dataclass(frozen=True)
class BuiltVersion:
    """A version of a project; *spiders* are its spiders as `crawler run` names them."""

    id: int
    project: int
    version: str
    tag: str
    commit: str
    state: str
    digest: str
    spiders: tuple[str, ...]
    reason: str
    at: float

    @property
    def sort_key(self) -> Version:
        return Version(self.version)


def is_version(text: str) -> bool:
    """Return whether *text* is a version by PEP 440."""
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


class Projects:
    kind = "project"

    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    def all(self) -> list[Project]:
        return [_project(row) for row in self._database.rows("SELECT * FROM project ORDER BY name")]

    def find(self, project: int) -> Project | None:
        row = self._database.row("SELECT * FROM project WHERE id = ?", project)
        return None if row is None else _project(row)

    def named(self, name: str) -> Project | None:
        row = self._database.row("SELECT * FROM project WHERE name = ?", name)
        return None if row is None else _project(row)

    def add(self, project: Project, secret: str, *, now: float, who: str) -> int:
        """Add a project with the password or key of its login; raise ValueError if its name is taken."""
        if self.named(project.name):
            raise ValueError(f"there is a project {project.name!r} already")
        with self._database.transaction():
            sealed = self._box.seal(secret, f"project {project.name}")
            number = self._database.change(
                "INSERT INTO project (name, url, login, user, pattern, grants, secret, hook)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *(project.name, *_values(project), sealed),
                self._box.seal(secrets.token_urlsafe(32), f"hook {project.name}"),
            )
            self._database.audit(now, who, f"added project {project.name}")
        return number

    def change(
        self, before: Project, after: Project, secret: str | None, *, now: float, who: str
    ) -> None:
        """
        Change all but the name of a project, and its secret unless that is None.

        Raise StateError if the project in the store is not *before* any more.
        """
        with self._database.transaction():
            if self.find(before.id) != before:
                raise StateError("somebody else has changed the project meanwhile")
            query = (
                "UPDATE project SET url = ?, login = ?, user = ?, pattern = ?, grants = ?"
                " WHERE id = ?"
            )
            self._database.change(query, *_values(after), before.id)
            if secret is not None:
                sealed = self._box.seal(secret, f"project {before.name}")
                query = "UPDATE project SET secret = ? WHERE id = ?"
                self._database.change(query, sealed, before.id)
            self._database.audit(
                now, who, f"changed project {before.name}{_regranted(before, after)}"
            )

    def remove(self, project: Project, *, now: float, who: str) -> None:
        with self._database.transaction():
            self._database.change("DELETE FROM project WHERE id = ?", project.id)
            self._database.audit(now, who, f"removed project {project.name}")

    def secret(self, project: Project) -> str:
        """Return the password or key of the login."""
        return self._opened(project, "secret", f"project {project.name}")

    def hook_secret(self, project: Project) -> str:
        return self._opened(project, "hook", f"hook {project.name}")

    def rotate_hook(self, project: Project, *, now: float, who: str) -> None:
        sealed = self._box.seal(secrets.token_urlsafe(32), f"hook {project.name}")
        with self._database.transaction():
            self._database.change("UPDATE project SET hook = ? WHERE id = ?", sealed, project.id)
            self._database.audit(now, who, f"rotated the webhook secret of {project.name}")

    def known_hosts(self, project: Project) -> str:
        """Return the ssh host keys that were seen at first use."""
        row = self._database.row("SELECT known_hosts FROM project WHERE id = ?", project.id)
        return str(row["known_hosts"]) if row else ""

    def pin_hosts(self, project: Project, known_hosts: str) -> None:
        query = "UPDATE project SET known_hosts = ? WHERE id = ? AND known_hosts = ''"
        self._database.change(query, known_hosts, project.id)

    def is_new_delivery(
        self, project: Project, provider: str, delivery: str, verdict: str, now: float
    ) -> bool:
        """Write down a delivery of a webhook; return False if it was delivered before."""
        query = "INSERT OR IGNORE INTO delivery VALUES (?, ?, ?, ?, ?)"
        return self._database.update(query, project.id, provider, delivery, now, verdict) == 1

    def forget_delivery(self, project: Project, delivery: str) -> None:
        """Let a delivery that could not be followed be sent again."""
        query = "DELETE FROM delivery WHERE project = ? AND id = ?"
        self._database.change(query, project.id, delivery)

    def deliveries(self, project: Project) -> list[dict[str, object]]:
        query = "SELECT provider, id, at, verdict FROM delivery WHERE project = ? ORDER BY at DESC LIMIT 20"
        return [dict(row) for row in self._database.rows(query, project.id)]

    def _opened(self, project: Project, column: str, place: str) -> str:
        row = self._database.row(f"SELECT {column} FROM project WHERE id = ?", project.id)  # noqa: S608
        return self._box.open(row[column], place) if row else ""


class Versions:
    kind = "version"

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, version: int) -> BuiltVersion | None:
        row = self._database.row("SELECT * FROM version WHERE id = ?", version)
        return None if row is None else _version(row)

    def of_project(self, project: int) -> list[BuiltVersion]:
        """Return all versions, the highest first."""
        rows = self._database.rows("SELECT * FROM version WHERE project = ?", project)
        return sorted(map(_version, rows), key=lambda one: one.sort_key, reverse=True)

    def in_state(self, *states: str) -> list[BuiltVersion]:
        marks = ", ".join("?" * len(states))
        query = f"SELECT * FROM version WHERE state IN ({marks}) ORDER BY id"  # noqa: S608
        return [_version(row) for row in self._database.rows(query, *states)]

    def chosen(self, project: int, wanted: str) -> BuiltVersion | None:
        """Return the ready version *wanted*; for "latest" the highest, pre-releases last."""
        ready = [one for one in self.of_project(project) if one.state == "ready"]
        if wanted != "latest":
            return next((one for one in ready if one.version == wanted), None)
        final = [one for one in ready if not one.sort_key.is_prerelease]
        return next(iter(final or ready), None)

    def ask(
        self, project: Project, version: str, tag: str, commit: str, now: float, who: str = "portal"
    ) -> bool:
        """Ask for the build of a tag; return False if the version is known."""
        query = (
            "INSERT OR IGNORE INTO version (project, version, tag, commit_id, state, at)"
            " VALUES (?, ?, ?, ?, 'asked', ?)"
        )
        with self._database.transaction():
            is_new = self._database.update(query, project.id, version, tag, commit, now) == 1
            if is_new:
                self._database.audit(now, who, f"asked for the build of {project.name} {version}")
        return is_new

    def set_state(self, version: int, state: str, reason: str = "") -> None:
        query = "UPDATE version SET state = ?, reason = ? WHERE id = ? AND state != 'ready'"
        self._database.change(query, state, reason, version)

    def set_ready(self, version: int, digest: str, spiders: list[str]) -> None:
        """Mark a version as ready; it never changes again."""
        query = "UPDATE version SET state = 'ready', digest = ?, spiders = ? WHERE id = ?"
        self._database.change(query, digest, json.dumps(spiders), version)

    def set_removed(self, version: int, now: float) -> None:
        """Note that the files of a version are gone; its tag stays known, and is not built by itself."""
        query = "UPDATE version SET state = 'removed', reason = ? WHERE id = ?"
        with self._database.transaction():
            self._database.change(query, "it was not used for 90 days", version)
            self._database.audit(now, "portal", f"removed the files of version {version}")

    def retry(self, version: int, now: float, who: str = "portal") -> None:
        """Ask for the build of a version that has failed, or was removed."""
        query = (
            "UPDATE version SET state = 'asked', reason = '', at = ? WHERE id = ?"
            " AND state IN ('failed', 'removed')"
        )
        with self._database.transaction():
            if self._database.update(query, now, version):
                self._database.audit(now, who, f"asked for the build of version {version} again")


def _project(row: sqlite3.Row) -> Project:
    names = ("id", "name", "url", "login", "user", "pattern")
    grants = tuple(json.loads(row["grants"]))
    return Project(**{name: row[name] for name in names}, grants=grants)


def _values(project: Project) -> tuple[str, ...]:
    """Return what is stored of a project besides its name and its secrets."""
    grants = json.dumps(project.grants)
    return (project.url, project.login, project.user, project.pattern, grants)


def _regranted(before: Project, after: Project) -> str:
    """Return what the audit says about grants that have changed; "" if they have not."""
    if before.grants == after.grants:
        return ""
    return f": it is for {', '.join(after.grants) or 'everybody'}"


def _version(row: sqlite3.Row) -> BuiltVersion:
    values = dict(row)
    spiders = tuple(json.loads(values.pop("spiders")))
    return BuiltVersion(commit=values.pop("commit_id"), spiders=spiders, **values)
