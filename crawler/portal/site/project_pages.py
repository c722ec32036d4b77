"""The pages of projects, and the place where webhooks arrive."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace
from time import time
from typing import Any

from flask import Response, redirect, request
from markupsafe import Markup
from werkzeug.exceptions import Conflict, Forbidden, TooManyRequests

from ...errors import StateError
from ..projects.builds import Builds
from ..projects.git import GitError
from ..projects.project_editor import ProjectEditor
from ..projects.tag_pattern import DEFAULT
from ..projects.webhook import check_delivery
from ..rendering import render
from ..store.projects import UNDER_WAY, Project
from .api_input import number_of
from .lookup import lookup, shown
from .page_updates import PageUpdates
from .visitor import PUBLIC, Route, session

#: Bytes of a delivery, and deliveries a minute, at most.
_MOST_BYTES, _MOST_A_MINUTE = 1 << 20, 30
#: Characters of the names in a form.
_LONGEST = 4000


class ProjectPages:
    def __init__(self, builds: Builds, editor: ProjectEditor) -> None:
        self._builds, self._projects = builds, builds.projects
        self._editor = editor
        self._updates: PageUpdates[int] = PageUpdates(self._sections, self._is_over)
        self._arrived: defaultdict[str, deque[float]] = defaultdict(
            lambda: deque(maxlen=_MOST_A_MINUTE)
        )

    def routes(self) -> list[Route]:
        one = "/projects/<int:project>"
        return [
            Route("/projects", "GET", self.all, "viewer"),
            Route("/projects", "POST", self.add, "admin"),
            Route(f"{one}/", "GET", self.page, "viewer"),
            Route(f"{one}/tags", "POST", self.look, "operator"),
            Route(f"{one}/rotate", "POST", self.rotate, "admin"),
            Route(f"{one}/grants", "POST", self.grant, "admin"),
            Route(f"{one}/remove", "POST", self.remove, "admin"),
            Route("/versions/<int:version>/", "GET", self.version, "viewer"),
            Route("/versions/<int:version>/events", "GET", self.events, "viewer"),
            Route("/versions/<int:version>/retry", "POST", self.retry, "operator"),
            Route("/alarms/<int:alarm>/seen", "POST", self.see, "operator"),
            Route("/hooks/<name>", "POST", self.hook, PUBLIC),
        ]

    def all(self) -> str:
        return self._list(Project(0, "", "", "", "", DEFAULT), {})

    def add(self) -> Response | str:
        given, secret = _given()
        if problems := self._editor.problems(given, secret):
            return self._list(given, problems)
        number = self._editor.add(given, secret, session().user.name)
        return redirect(f"/projects/{number}/", 303)

    def page(self, project: int, problem: str = "", hook_secret: str = "") -> str:
        found = lookup(self._projects, project)
        return render(
            "site/project.html",
            project=found,
            versions=self._builds.versions.of_project(found.id),
            deliveries=self._projects.deliveries(found),
            alarms=shown(self._builds.alarms.open()),
            hook_secret=hook_secret,
            hosts=self._projects.known_hosts(found),
            tasks=self._editor.tasks_of(found),
            problem=problem,
            root=request.host_url,
            session=session(),
        )

    def look(self, project: int) -> Response | str:
        try:
            self._builds.look(lookup(self._projects, project), session().user.name)
        except (GitError, ValueError) as error:
            return self.page(project, str(error))
        return redirect("./", 303)

    def rotate(self, project: int) -> str:
        """Make a new secret of the webhook, and show it this once."""
        found = lookup(self._projects, project)
        self._projects.rotate_hook(found, now=time(), who=session().user.name)
        return self.page(project, hook_secret=self._projects.hook_secret(found))

    def grant(self, project: int) -> Response | str:
        """Change who may see and use the project besides admins."""
        before = lookup(self._projects, project)
        names = str(request.form.get("grants", ""))[:_LONGEST].replace(",", " ").split()
        after = replace(before, grants=tuple(sorted(set(names))))
        if problem := self._editor.wrong_grants(after):
            return self.page(project, problem)
        self._editor.change(before, after, None, session().user.name)
        return redirect("./", 303)

    def remove(self, project: int) -> Response:
        try:
            self._editor.remove(lookup(self._projects, project), session().user.name)
        except StateError as error:
            raise Conflict(str(error)) from error
        return redirect("/projects", 303)

    def version(self, version: int) -> str:
        found = lookup(self._builds.versions, version)
        return render(
            "site/version.html",
            version=found,
            project=lookup(self._projects, found.project),
            parts=self._sections(found.id),
            is_under_way=found.state in UNDER_WAY,
            session=session(),
        )

    def events(self, version: int) -> Response:
        """Send the log of a build as it grows, until the build is over."""
        seen = request.args.get("seen", "0")
        found = lookup(self._builds.versions, version)
        events = self._updates.watch(found.id, number_of(seen))
        return Response(events, mimetype="text/event-stream")

    def _sections(self, version: int) -> dict[str, Markup]:
        found = lookup(self._builds.versions, version)
        values = {"version": found, "text": self._builds.log_end(found)}
        names = ("status", "output")
        return {name: Markup(render(f"build/{name}.html", **values)) for name in names}  # noqa: S704

    def _is_over(self, version: int) -> bool:
        return lookup(self._builds.versions, version).state not in UNDER_WAY

    def retry(self, version: int) -> Response:
        found = lookup(self._builds.versions, version)
        self._builds.versions.retry(found.id, time(), session().user.name)
        return redirect("./", 303)

    def see(self, alarm: int) -> Response:
        found = lookup(self._builds.alarms, alarm)
        self._builds.alarms.see(found.id, who=session().user.name, now=time())
        return redirect("/projects", 303)

    def hook(self, name: str) -> Response:
        """Take a delivery of a webhook: it is only a hint to ask the repository itself."""
        self._count(name)
        request.max_content_length = _MOST_BYTES
        body = request.get_data()
        project = self._projects.named(name)
        if project is None:
            raise Forbidden("There is no such project, or the signature is wrong.")
        secret = self._projects.hook_secret(project)
        delivery = check_delivery(request.headers, body, secret, time())
        if delivery.refusal:
            raise Forbidden("There is no such project, or the signature is wrong.")
        if not self._projects.is_new_delivery(
            project, delivery.provider, delivery.id, "taken", time()
        ):
            return Response("known\n", mimetype="text/plain")
        try:
            number = self._builds.look(project, f"webhook of {delivery.provider}")
        except GitError as error:
            self._projects.forget_delivery(project, delivery.id)
            return Response(
                f"the repository does not answer: {error}\n", 502, mimetype="text/plain"
            )
        return Response(f"{number} new versions\n", mimetype="text/plain")

    def _count(self, name: str) -> None:
        """Refuse more than 30 deliveries a minute to one project, from all senders together."""
        key = name if self._projects.named(name) else ""
        times, now = self._arrived[key], time()
        if len(times) == _MOST_A_MINUTE and now - times[0] < 60:
            raise TooManyRequests("There are more than 30 deliveries a minute.")
        times.append(now)

    def _list(self, given: Project, problems: dict[str, str]) -> str:
        projects = shown(self._projects.all())
        latest = {one.id: self._builds.versions.chosen(one.id, "latest") for one in projects}
        return render(
            "site/projects.html",
            projects=projects,
            latest=latest,
            alarms=shown(self._builds.alarms.open()),
            given=given,
            problems=problems,
            session=session(),
        )


def _given() -> tuple[Project, str]:
    """Return the project in the form, and the secret of its login, which no page shows again."""
    form: Any = {name: str(request.form.get(name, "")).strip()[:1000] for name in _FIELDS}
    secret = str(request.form.get("secret", ""))[:20_000].replace("\r\n", "\n")
    return Project(0, **form), secret


_FIELDS = ("name", "url", "login", "user", "pattern")
