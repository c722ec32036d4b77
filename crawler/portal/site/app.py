"""The routes of a portal: each page, and the least role that it is for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, g
from werkzeug.exceptions import HTTPException

from ..rendering import render, static
from ..runs.runner import Runner
from ..store.database import Database
from .run_pages import RunPages
from .task_pages import TaskPages
from .user_pages import UserPages
from .visitor import PUBLIC, Visitors

_TYPES = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}
_MOST_FORM = 65536


def portal_app(database: Database, runner: Runner, visitors: Visitors, spiders: Path) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _MOST_FORM
    app.register_error_handler(HTTPException, _error)
    visitors.watch(app)
    users, tasks = UserPages(visitors, database), TaskPages(database, spiders)
    runs = RunPages(database, runner)
    for rule, method, page, role in (
        ("/files/<name>", "GET", _file, PUBLIC),
        ("/setup/<secret>", "GET", users.setup_form, PUBLIC),
        ("/setup/<secret>", "POST", users.setup, PUBLIC),
        ("/login", "GET", users.login_form, PUBLIC),
        ("/login", "POST", users.login, PUBLIC),
        ("/logout", "POST", users.logout, "viewer"),
        ("/users", "GET", users.page, "admin"),
        ("/users", "POST", users.add, "admin"),
        ("/users/<int:user>/remove", "POST", users.remove, "admin"),
        ("/", "GET", tasks.home, "viewer"),
        ("/tasks/new", "GET", tasks.new_form, "operator"),
        ("/tasks/new", "POST", tasks.save, "operator"),
        ("/tasks/<int:task>/", "GET", tasks.page, "viewer"),
        ("/tasks/<int:task>/edit", "GET", tasks.edit_form, "operator"),
        ("/tasks/<int:task>/edit", "POST", tasks.save, "operator"),
        ("/tasks/<int:task>/run", "POST", tasks.run, "operator"),
        ("/runs/<int:run>/", "GET", runs.page, "viewer"),
        ("/runs/<int:run>/events", "GET", runs.events, "viewer"),
        ("/runs/<int:run>/why", "GET", runs.why, "viewer"),
        ("/runs/<int:run>/log", "GET", runs.log, "viewer"),
        ("/runs/<int:run>/output", "GET", runs.output, "viewer"),
        ("/runs/<int:run>/pause", "POST", runs.pause, "operator"),
        ("/runs/<int:run>/resume", "POST", runs.resume, "operator"),
        ("/runs/<int:run>/stop", "POST", runs.stop, "operator"),
        ("/runs/<int:run>/continue", "POST", runs.go_on, "operator"),
        ("/compare", "GET", runs.compare, "viewer"),
        ("/api/v1/runs/<int:run>/figures", "GET", runs.figures_as_json, "viewer"),
    ):
        _add(app, visitors, rule, method, page, role)
    return app


def _add(
    app: Flask, visitors: Visitors, rule: str, method: str, page: Callable[..., Any], role: str
) -> None:
    endpoint = f"{method} {rule}"
    visitors.roles[endpoint] = role
    app.add_url_rule(rule, endpoint, page, methods=[method])


def _file(name: str) -> Response:
    if name not in _TYPES:
        abort(404)
    return Response(static(name), mimetype=_TYPES[name])


def _error(error: HTTPException) -> Response:
    text = error.description or error.name
    page = render("site/message.html", code=error.code, text=text, session=g.get("session"))
    return Response(page, error.code or 500)
