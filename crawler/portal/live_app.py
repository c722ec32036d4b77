"""The routes of the live page of one crawl."""

from __future__ import annotations

from flask import Flask, Response, abort, jsonify, redirect, request
from werkzeug.exceptions import HTTPException

from ..errors import JobError, StateError
from ..job.view import Story
from .access import HEADERS
from .host_delay import HostDelay
from .live_run import LiveRun
from .metrics import CONTENT_TYPE, Crawl, CrawlMetrics, metrics_text
from .rendering import render, sections, static, why_page
from .updates import Updates

#: The types of the files that the page needs.
_TYPES = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}
#: The longest URL that is looked up, and the largest form.
_MOST_URL, _MOST_FORM = 4000, 16384


def live_app(run: LiveRun, updates: Updates) -> Flask:
    """Return the pages of *run*. They check nobody: Access does, before them."""
    app, pages = Flask(__name__, static_folder=None), _Pages(run, updates)
    app.config["MAX_CONTENT_LENGTH"] = _MOST_FORM
    app.after_request(_with_headers)
    app.register_error_handler(HTTPException, _error)
    app.register_error_handler(StateError, lambda error: _message(409, str(error)))
    app.register_error_handler(JobError, lambda error: _message(503, str(error)))
    for rule, answer in {
        "/": pages.page,
        "/events": pages.events,
        "/why": pages.why,
        "/metrics": pages.metrics,
        "/api/v1/figures": pages.figures,
        "/api/v1/hosts": pages.hosts,
        "/api/v1/why": pages.why_as_json,
        "/<name>": pages.file,
    }.items():
        app.add_url_rule(rule, rule, answer, methods=["GET"])
    for name in ("pause", "resume", "stop"):
        app.add_url_rule(f"/{name}", name, pages.command, methods=["POST"], defaults={"name": name})
    app.add_url_rule("/delay", "delay", pages.delay, methods=["POST"])
    return app


class _Pages:
    def __init__(self, run: LiveRun, updates: Updates) -> None:
        self._run = run
        self._updates = updates
        self._commands = {"pause": run.pause, "resume": run.resume, "stop": run.stop}

    def page(self) -> str:
        # An update between the two numbers is sent twice, never left out.
        seen, run = self._updates.number, self._run.figures()
        return render("live.html", run=run, parts=sections(run, is_live=True), seen=seen)

    def events(self) -> Response:
        seen = request.headers.get("Last-Event-ID", request.args.get("seen", "0"))
        events = self._updates.watch(int(seen) if seen.isdecimal() else 0)
        return Response(events, mimetype="text/event-stream")

    def why(self) -> str:
        url, stories = self._asked()
        return why_page(self._run.name, url, stories)

    def why_as_json(self) -> Response:
        return jsonify([story.to_dict() for story in self._asked()[1]])

    def metrics(self) -> Response:
        summary = self._run.summary()
        hosts = self._run.host_states()
        crawl = Crawl(self._run.name, summary.urls, summary.to_dict(), hosts)
        return Response(metrics_text(CrawlMetrics([crawl])), content_type=CONTENT_TYPE)

    def figures(self) -> Response:
        return jsonify(self._run.figures().to_dict())

    def hosts(self) -> Response:
        return jsonify(self._run.host_states())

    def file(self, name: str) -> Response:
        if name not in _TYPES:
            abort(404)
        return Response(static(name), mimetype=_TYPES[name])

    def command(self, name: str) -> Response:
        self._commands[name]()
        return redirect("./", 303)

    def delay(self) -> Response:
        try:
            given = HostDelay.of(request.form.get("host", ""), request.form.get("seconds", ""))
        except ValueError as error:
            abort(400, f"{error}.")
        self._run.set_delay(given)
        return redirect("./", 303)

    def _asked(self) -> tuple[str, list[Story]]:
        """Return the URL that is asked for, and what happened to it."""
        url = request.args.get("url", "").strip()[:_MOST_URL]
        return url, self._run.why(url) if url else []


def _with_headers(response: Response) -> Response:
    response.headers.update(HEADERS)
    return response


def _error(error: HTTPException) -> Response:
    return _message(error.code or 500, error.description or error.name)


def _message(code: int, text: str) -> Response:
    return Response(render("message.html", code=code, text=text), code)
