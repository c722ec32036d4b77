"""The app of a portal: all of its pages, each for the roles that its route names."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import chain

from flask import Flask, Response, abort, g
from werkzeug.exceptions import HTTPException

from ..projects.spider_sources import SpiderSources
from ..rendering import render, static
from ..runs.log_keeper import LogKeeper
from ..runs.runner import Runner
from ..runs.steering import Steering
from ..store.database import Database
from ..store.tasks import Tasks
from .answers import Problem
from .api import Api
from .log_pages import LogPages
from .project_pages import ProjectPages
from .run_pages import RunPages
from .task_pages import TaskPages
from .token_pages import TokenPages
from .user_pages import UserPages
from .visitor import PUBLIC, Route, Visitors, is_api

_TYPES = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}
_MOST_FORM = 65536


def portal_app(
    database: Database,
    runner: Runner,
    keeper: LogKeeper,
    visitors: Visitors,
    sources: SpiderSources,
) -> Flask:
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _MOST_FORM
    app.register_error_handler(HTTPException, _error)
    visitors.watch(app)
    steering = Steering(database, runner)
    pages = (
        UserPages(visitors, database),
        TokenPages(visitors),
        TaskPages(database, sources),
        ProjectPages(sources.builds, Tasks(database)),
        RunPages(database, runner, steering),
        LogPages(database, keeper),
    )
    routes = list(chain.from_iterable(each.routes() for each in pages))
    routes += Api(database, steering, routes).routes()
    for route in (Route("/files/<name>", "GET", _file, PUBLIC), *routes):
        _add(app, visitors, route)
    return app


def _add(app: Flask, visitors: Visitors, route: Route) -> None:
    endpoint = f"{route.method} {route.rule}"
    visitors.roles[endpoint] = route.role
    app.add_url_rule(route.rule, endpoint, route.page, methods=[route.method])


def _file(name: str) -> Response:
    if name not in _TYPES:
        abort(404)
    return Response(static(name), mimetype=_TYPES[name])


def _error(error: HTTPException) -> Response:
    text, code = error.description or error.name, error.code or 500
    if is_api():
        problem = asdict(Problem(error.name, code, text))
        return Response(json.dumps(problem), code, mimetype="application/problem+json")
    page = render("site/message.html", code=code, text=text, session=g.get("session"))
    return Response(page, code)
