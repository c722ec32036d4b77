"""Projects and the builds of their versions for programs."""

from __future__ import annotations

from dataclasses import asdict, replace
from time import time
from typing import Any

from flask import Response
from werkzeug.exceptions import BadGateway, Conflict, PreconditionFailed

from ...errors import StateError
from ..projects.builds import Builds
from ..projects.git import GitError
from ..projects.project_editor import ProjectEditor
from ..store.projects import UNDER_WAY, BuiltVersion, Project
from .answers import (
    FoundAnswer,
    ProjectAnswer,
    ProjectGiven,
    ProjectsAnswer,
    VersionAnswer,
    VersionsAnswer,
)
from .api_input import Invalid, answer, check_match, etag_of, read_body
from .lookup import lookup, shown
from .visitor import Route, session


class ProjectApi:
    def __init__(self, builds: Builds, editor: ProjectEditor) -> None:
        self._builds, self._projects, self._versions = builds, builds.projects, builds.versions
        self._editor = editor

    def routes(self) -> list[Route]:
        all_projects, build = "/api/v1/projects", "/api/v1/builds"
        one, versions = f"{all_projects}/<int:project>", f"{all_projects}/<int:project>/versions"
        changed = "Change a project; a secret that is not given is kept. If-Match has its ETag."
        body: Any = {"body": ProjectGiven}
        looked = "Ask the repository for its tags, and for builds of new versions."
        again = "Build a version again that has failed."
        return [
            Route(all_projects, "GET", self.all, "viewer", "All projects.", ProjectsAnswer),
            Route(
                all_projects, "POST", self.add, "admin", "Add.", ProjectAnswer, **body, status=201
            ),
            Route(one, "GET", self.project, "viewer", "A project, with an ETag.", ProjectAnswer),
            Route(one, "PUT", self.change, "admin", changed, ProjectAnswer, **body),
            Route(
                one,
                "DELETE",
                self.remove,
                "admin",
                "Remove it. If-Match has its ETag.",
                status=204,
                media="",
            ),
            Route(versions, "GET", self.versions, "viewer", "Its versions.", VersionsAnswer),
            Route(f"{one}/tags", "POST", self.look, "operator", looked, FoundAnswer),
            Route(build, "GET", self.under_way, "viewer", "Builds that go on.", VersionsAnswer),
            Route(f"{build}/<int:version>", "GET", self.build, "viewer", "One.", VersionAnswer),
            Route(
                f"{build}/<int:version>/retry", "POST", self.retry, "operator", again, VersionAnswer
            ),
        ]

    def all(self) -> Response:
        return answer(
            ProjectsAnswer([ProjectAnswer.of(one) for one in shown(self._projects.all())])
        )

    def project(self, project: int, status: int = 200) -> Response:
        found = lookup(self._projects, project)
        return answer(ProjectAnswer.of(found), etag_of(found), status)

    def add(self) -> Response:
        given, secret = self._given(0)
        return self.project(self._editor.add(given, secret or "", session().user.name), 201)

    def change(self, project: int) -> Response:
        before = lookup(self._projects, project)
        check_match(etag_of(before))
        after, secret = self._given(project)
        if after.name != before.name:
            raise Invalid({"name": "the name of a project stays"})
        try:
            self._editor.change(before, after, secret, session().user.name)
        except StateError as error:
            raise PreconditionFailed(str(error)) from error
        return self.project(project)

    def remove(self, project: int) -> Response:
        found = lookup(self._projects, project)
        check_match(etag_of(found))
        try:
            self._editor.remove(found, session().user.name)
        except StateError as error:
            raise Conflict(str(error)) from error
        return Response(status=204)

    def versions(self, project: int) -> Response:
        return self._answer(self._versions.of_project(lookup(self._projects, project).id))

    def look(self, project: int) -> Response:
        try:
            number = self._builds.look(lookup(self._projects, project), session().user.name)
        except (GitError, ValueError) as error:
            raise BadGateway(str(error)) from error
        return answer(FoundAnswer(number))

    def under_way(self) -> Response:
        return self._answer(shown(self._versions.in_state(*UNDER_WAY)))

    def build(self, version: int) -> Response:
        found = lookup(self._versions, version)
        return answer(replace(VersionAnswer.of(found), log=self._builds.log_end(found)))

    def retry(self, version: int) -> Response:
        self._versions.retry(lookup(self._versions, version).id, time(), session().user.name)
        return self.build(version)

    def _given(self, project: int) -> tuple[Project, str | None]:
        """Return the project that was sent, and its secret; None keeps the one that it has."""
        fields = asdict(read_body(ProjectGiven))
        secret: str | None = fields.pop("secret")
        given = Project(project, **fields)
        wanted = secret if project else secret or ""
        if problems := self._editor.problems(given, wanted):
            raise Invalid(problems)
        return given, secret

    def _answer(self, versions: list[BuiltVersion]) -> Response:
        return answer(VersionsAnswer([VersionAnswer.of(one) for one in versions]))
