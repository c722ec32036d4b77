"""The app of a portal: all of its pages, each for the roles that its route names."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from itertools import chain

from flask import Flask, Response, abort, g
from werkzeug.exceptions import HTTPException, ServiceUnavailable
from werkzeug.routing import IntegerConverter

from ..projects.project_editor import ProjectEditor
from ..projects.spider_sources import SpiderSources
from ..rendering import render, static
from ..runs.cluster_jobs import ClusterJobs
from ..runs.log_keeper import LogKeeper
from ..runs.run_view import RunView
from ..runs.runner import Runner
from ..runs.steering import Steering
from ..runs.task_editor import TaskEditor
from ..store.database import Database
from ..store.runs import Runs
from ..store.tasks import Tasks
from .admin_api import AdminApi
from .answers import Problem
from .api import Description
from .api_input import NUMBER, Invalid
from .cluster_pages import ClusterPages
from .command_api import CommandApi
from .event_api import EventApi
from .log_pages import LogPages
from .metrics_page import MetricsPage
from .project_api import ProjectApi
from .project_pages import ProjectPages
from .run_api import RunApi
from .run_commands import RunCommands
from .run_pages import RunPages
from .task_api import TaskApi
from .task_pages import TaskPages
from .token_pages import TokenPages
from .url_pages import UrlPages
from .user_pages import UserPages
from .visitor import PUBLIC, Route, Visitors, is_program

_TYPES = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}
_MOST_FORM = 65536
#: What keeps the store from being changed until somebody has looked after the machine.
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY: "another program has locked it",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk has failed",
    sqlite3.SQLITE_READONLY: "it may only be read",
}


class _Number(IntegerConverter):  # type: ignore[misc]
    """A number in the path of a page."""

    regex = NUMBER.pattern


def portal_app(
    database: Database,
    runner: Runner,
    keeper: LogKeeper,
    visitors: Visitors,
    sources: SpiderSources,
    cluster: ClusterJobs | None,
) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.url_map.converters["int"] = _Number
    app.config["MAX_CONTENT_LENGTH"] = _MOST_FORM
    app.register_error_handler(HTTPException, _error)
    app.register_error_handler(sqlite3.OperationalError, _unavailable)
    visitors.watch(app)
    steering, view = Steering(database, runner), RunView(runner, Runs(database))
    task_editor = TaskEditor(database, sources)
    project_editor = ProjectEditor(sources.builds, Tasks(database), visitors.users)
    run_pages, cluster_pages = RunPages(database, view), ClusterPages(cluster)
    topics = {"run": run_pages.topic, "cluster": cluster_pages.topic}
    parts = (
        UserPages(visitors, database),
        TokenPages(visitors),
        TaskPages(database, sources, task_editor),
        ProjectPages(sources.builds, project_editor),
        run_pages,
        UrlPages(database, view),
        RunCommands(database, steering),
        LogPages(database, keeper),
        cluster_pages,
        TaskApi(database, task_editor),
        RunApi(database, view),
        CommandApi(database, steering),
        ProjectApi(sources.builds, project_editor),
        AdminApi(visitors, database),
        EventApi(topics),
        MetricsPage(Runs(database), view, runner, sources.builds, cluster),
    )
    for route in _all_routes(chain.from_iterable(each.routes() for each in parts)):
        _add(app, visitors, route)
    return app


def _all_routes(routes: Iterable[Route]) -> list[Route]:
    """Return *routes* with those of the files and of the description of the API."""
    routes = [Route("/files/<name>", "GET", _file, PUBLIC), *routes]
    return [*routes, *Description(routes).routes()]


def _add(app: Flask, visitors: Visitors, route: Route) -> None:
    endpoint = f"{route.method} {route.rule}"
    visitors.roles[endpoint] = route.role
    visitors.scopes[endpoint] = route.least_scope
    app.add_url_rule(route.rule, endpoint, route.page, methods=[route.method])


def _file(name: str) -> Response:
    if name not in _TYPES:
        abort(404)
    return Response(static(name), mimetype=_TYPES[name])


def _error(error: HTTPException) -> Response:
    text, code = error.description or error.name, error.code or 500
    if is_program():
        errors = error.errors if isinstance(error, Invalid) else {}
        problem = asdict(Problem(error.name, code, text, errors=errors))
        return Response(json.dumps(problem), code, mimetype="application/problem+json")
    page = render("site/message.html", code=code, text=text, session=g.get("session"))
    return Response(page, code)


def _unavailable(error: sqlite3.OperationalError) -> Response:
    reason = _UNAVAILABLE.get(error.sqlite_errorcode & 0xFF)
    if reason is None:
        raise error
    return _error(
        ServiceUnavailable(
            f"The store cannot be changed: {reason}. Nothing was changed; try again."
        )
    )
