"""ProjectEditor: adds, changes and removes projects, for pages and programs alike."""

from __future__ import annotations

from collections.abc import Callable
from time import time

from ...errors import StateError
from ..store.projects import NAME, Project
from ..store.tasks import Tasks
from ..store.users import Users
from .builds import Builds
from .git import wrong_url
from .tag_pattern import wrong_pattern

_LOGINS = ("", "password", "key")


class ProjectEditor:
    def __init__(
        self, builds: Builds, tasks: Tasks, users: Users, clock: Callable[[], float] = time
    ) -> None:
        self._builds, self._projects = builds, builds.projects
        self._tasks, self._users = tasks, users
        self._clock = clock

    def problems(self, given: Project, secret: str | None) -> dict[str, str]:
        """Return by field what is wrong with a project; a *secret* that is None is kept."""
        is_taken = any(
            one.name == given.name and one.id != given.id for one in self._projects.all()
        )
        found = {
            "name": _wrong_name(given.name, is_taken=is_taken),
            "url": wrong_url(given.url, self._builds.allowed),
            "login": "" if given.login in _LOGINS else "not a choice",
            "secret": "it is needed to sign in" if given.login and secret == "" else "",
            "pattern": wrong_pattern(given.pattern),
            "grants": self.wrong_grants(given),
        }
        return {name: text for name, text in found.items() if text}

    def wrong_grants(self, given: Project) -> str:
        """Return why a project cannot be for those that it names; "" if it can."""
        unknown = set(given.grants) - {user.name for user in self._users.all()}
        return f"there is no user {', '.join(sorted(unknown))}" if unknown else ""

    def add(self, given: Project, secret: str, who: str) -> int:
        return self._projects.add(given, secret, now=self._clock(), who=who)

    def change(self, before: Project, after: Project, secret: str | None, who: str) -> None:
        """Change all but the name; raise StateError if the project is not *before* any more."""
        self._projects.change(before, after, secret, now=self._clock(), who=who)

    def remove(self, project: Project, who: str) -> None:
        """Remove a project; raise StateError if a task uses it."""
        if used := self.tasks_of(project):
            raise StateError(f"the task {used[0]} uses this project: edit it first")
        self._projects.remove(project, now=self._clock(), who=who)

    def tasks_of(self, project: Project) -> list[str]:
        """Return the names of the tasks that run a version of *project*."""
        prefix = f"{project.name}@"
        return [task.name for task in self._tasks.all() if task.source.startswith(prefix)]


def _wrong_name(name: str, *, is_taken: bool) -> str:
    if not NAME.fullmatch(name):
        return "lower-case letters, digits, - and _ only"
    return f"there is a project {name!r} already" if is_taken else ""
