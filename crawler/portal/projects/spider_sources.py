"""SpiderSources: where the spider of a task comes from: the files of the portal, or a version."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...spider.spider_files import spiders_below
from ..store.grants import NOTHING_HIDDEN, Hidden
from ..store.tasks import Task
from .builds import Builds
from .venv_builder import python_of


class Place(NamedTuple):
    """Where a run starts, and with which Python."""

    directory: Path
    python: Path


class SpiderSources:
    """*files* is the directory with the portal's own spider files."""

    def __init__(self, files: Path, builds: Builds) -> None:
        self.builds = builds
        self._files = files

    def choices(self, hidden: Hidden = NOTHING_HIDDEN) -> dict[str, list[str]]:
        """Return the spiders by source: "" for the portal's own files, else PROJECT@VERSION."""
        found = {"": self._own()}
        for project in self.builds.projects.all():
            if project.id in hidden:
                continue
            for wanted in ("latest", *self._ready(project.id)):
                if version := self.builds.versions.chosen(project.id, wanted):
                    found[f"{project.name}@{wanted}"] = list(version.spiders)
        return found

    def problem(self, task: Task, hidden: Hidden = NOTHING_HIDDEN) -> str:
        """Return why the spider of a task cannot be chosen; "" if it can."""
        if not task.spider and task.project not in hidden:
            return ""
        choices = self.choices(hidden)
        if task.source not in choices:
            return f"there is no version {task.source} that is ready"
        return "" if task.spider in choices[task.source] else "there is no such spider"

    def resolved(self, task: Task) -> Task:
        """Return *task* with the version that "latest" stands for at the moment."""
        name, _, wanted = task.source.partition("@")
        project = self.builds.projects.named(name)
        if project is None or wanted != "latest":
            return task
        version = self.builds.versions.chosen(project.id, wanted)
        return replace(task, source=f"{name}@{version.version}") if version else task

    def place(self, task: Task) -> Place:
        """Return where a run of *task* starts; raise LookupError if its version is not there."""
        if not task.source:
            return Place(self._files, Path(sys.executable))
        name, _, wanted = task.source.partition("@")
        project = self.builds.projects.named(name)
        version = project and self.builds.versions.chosen(project.id, wanted)
        if not version:
            raise LookupError(f"the version {task.source} is not ready")
        path = self.builds.path(version)
        return Place(path / "source", python_of(path))

    def _own(self) -> list[str]:
        """Return the spiders as they are called from the directory that runs start in."""
        places = (name.rpartition(":") for name in spiders_below(self._files))
        return [f"{Path(path).relative_to(self._files)}:{kind}" for path, _, kind in places]

    def _ready(self, project: int) -> list[str]:
        versions = self.builds.versions.of_project(project)
        return [one.version for one in versions if one.state == "ready"]
