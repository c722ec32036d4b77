"""Builds: from the tags of a repository to versions that are ready."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable, Collection
from pathlib import Path
from time import time

import gevent
from gevent.pool import Pool
from prometheus_client import Counter

from ..store.alarms import Alarms
from ..store.database import Database
from ..store.projects import UNDER_WAY, BuiltVersion, Project, Projects, Versions
from .git import Git, GitError, Login
from .lease import Lease
from .limited_process import Failed
from .tag_pattern import is_of_titles, version_of
from .venv_builder import build, check

log = logging.getLogger(__name__)

#: Seconds between two looks at what is asked for; how many builds go on at a time.
_INTERVAL, _TOGETHER = 1.0, 2
#: How much of the end of a build's log is shown.
_TAIL, _LINES = 65536, 200


class Builds:
    """
    The versions of projects, each in a directory below *root*.

    Of the portals in a directory one builds, and another one once that has ended. A build that a
    portal was killed in has failed. A version never changes once it is ready: a tag
    that has moved is an alarm, never a build.
    """

    def __init__(
        self,
        database: Database,
        projects: Projects,
        root: Path,
        allowed: Collection[str] = (),
        clock: Callable[[], float] = time,
    ) -> None:
        self.versions, self.alarms = Versions(database), Alarms(database)
        self.projects = projects
        self.allowed = allowed
        self._root = root
        self._clock = clock
        self._at_work = Pool(_TOGETHER)
        self.results = Counter(
            "crawler_portal_builds", "Builds that are over.", ["result"], registry=None
        )
        self._lease = Lease(root / "lock")

    def serve(self) -> None:
        """Start what is asked for, for ever."""
        while True:
            try:
                self.step()
            except (OSError, sqlite3.Error) as error:
                # The store is locked, or the disk is full: it is tried again.
                log.warning("the portal could not look after its builds: %s", error)
            gevent.sleep(_INTERVAL)

    def step(self) -> None:
        """Start the builds that are asked for: one of a project, and two in all."""
        if self._lease.take():
            self._end_interrupted()
        if not self._lease.is_held:
            return
        busy = {one.project for one in self.versions.in_state(*UNDER_WAY[1:])}
        for version in self.versions.in_state("asked"):
            if version.project not in busy and self._at_work.free_count():
                busy.add(version.project)
                self.versions.set_state(version.id, "fetching")
                self._at_work.spawn(self._build, version)

    def join(self) -> None:
        """Wait for the builds that go on."""
        self._at_work.join()

    def stop(self) -> None:
        """End the builds that go on, and let another portal build."""
        self._at_work.kill()
        self._lease.give_back()

    def path(self, version: BuiltVersion) -> Path:
        return self._root / str(version.project) / str(version.id)

    def log_end(self, version: BuiltVersion) -> str:
        """Return the last 200 lines of the log of a build."""
        try:
            with (self.path(version) / "build.log").open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - _TAIL))
                text = file.read().decode(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-_LINES:])

    def look(self, project: Project, who: str = "portal") -> int:
        """Ask the repository for its tags, and for builds of new versions; return how many."""
        git = self._git(project)
        tags = git.tags()
        texts = git.titles() if is_of_titles(project.pattern) else {tag: tag for tag in tags}
        self.projects.pin_hosts(project, git.known_hosts)
        known = {one.version: one for one in self.versions.of_project(project.id)}
        number = 0
        for tag, commit in tags.items():
            version = version_of(texts.get(tag, ""), project.pattern, project.name)
            if not version:
                continue
            if version not in known:
                number += self.versions.ask(project, version, tag, commit, self._clock(), who)
            elif known[version].tag == tag and known[version].commit != commit:
                self._alarm(project, known[version], commit)
        return number

    def _end_interrupted(self) -> None:
        for version in self.versions.in_state(*UNDER_WAY[1:]):
            self.versions.set_state(version.id, "failed", "interrupted: the portal was stopped")

    def _alarm(self, project: Project, version: BuiltVersion, commit: str) -> None:
        text = (
            f"the tag {version.tag} has moved from {version.commit[:12]} to {commit[:12]}, and was "
            "not built again: find out who has moved it, and make a new version"
        )
        self.alarms.add(f"{project.name} {version.version}", text, self._clock(), project.name)

    def _git(self, project: Project) -> Git:
        secret, hosts = self.projects.secret(project), self.projects.known_hosts(project)
        login = Login(project.login, project.user, secret, hosts)
        return Git(project.url, login, self.allowed)

    def _build(self, version: BuiltVersion) -> None:
        project, path = self.projects.find(version.project), self.path(version)
        if project is None:
            return
        try:
            self._steps(version, project, path)
        except (Failed, GitError, OSError, ValueError) as error:
            self.versions.set_state(version.id, "failed", str(error))
        except Exception as error:  # one build must not end the others
            log.exception("the build of %s %s failed", project.name, version.version)
            self.versions.set_state(version.id, "failed", f"{type(error).__name__}: {error}")
        else:
            self.results.labels("ready").inc()
            return
        self.results.labels("failed").inc()

    def _steps(self, version: BuiltVersion, project: Project, path: Path) -> None:
        shutil.rmtree(path, ignore_errors=True)
        (path / "source").mkdir(parents=True)
        build_log = path / "build.log"
        self._git(project).fetch(version.tag, version.commit, path / "source")
        self.versions.set_state(version.id, "building")
        build(path, build_log)
        self.versions.set_state(version.id, "checking")
        built = check(path, build_log)
        self.versions.set_ready(version.id, built.digest, built.spiders)
