"""The log of a run: search, live tail, download."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import gevent
from flask import Response, jsonify, request
from gevent.event import Event
from gevent.lock import Semaphore

from ..rendering import render
from ..runs.log_index import LEVELS, LogLine
from ..runs.log_keeper import LogKeeper
from ..runs.log_search import LogQuery
from ..store.database import Database
from ..store.runs import Run, Runs
from .answers import LogAnswer
from .api_input import number_of
from .lookup import lookup
from .visitor import Route, session

Value = TypeVar("Value")

#: Seconds between two signs of life of a tail.
_KEEP_ALIVE = 15.0
#: The number of lines in an answer of the API at most, and in a piece of a download.
_MOST, _PIECE = 1000, 2000
_LONGEST = 500
_FILTERS = ("words", "level", "request", "host", "since", "until", "zone")


class _NewLines(NamedTuple):
    """The number of the last line, the event with all of them, and whether none follow."""

    last: int
    event: str
    is_last: bool


class _Shared(NamedTuple):
    """New lines by query; *changed* is set when there are more. One reads at a time."""

    changed: Event
    turn: Semaphore
    lines: dict[LogQuery, _NewLines]


class LogPages:
    def __init__(self, database: Database, keeper: LogKeeper) -> None:
        self._runs = Runs(database)
        self._keeper = keeper
        #: By run, what browsers get until its log has more.
        self._shared: dict[int, _Shared] = {}

    def routes(self) -> list[Route]:
        return [
            Route("/runs/<int:run>/log", "GET", self.page, "viewer"),
            Route("/runs/<int:run>/log/events", "GET", self.events, "viewer"),
            Route("/runs/<int:run>/log/download", "GET", self.download, "viewer"),
            Route(
                "/api/v1/runs/<int:run>/logs",
                "GET",
                self.as_json,
                "viewer",
                "Lines of the log.",
                LogAnswer,
                (*_FILTERS, "before", "after", "around", "most"),
            ),
        ]

    def page(self, run: int) -> str:
        found, query = lookup(self._runs, run), _query()
        self._keeper.update(found)
        lines = self._lines(found, query)
        index = self._keeper.index(found)
        return render(
            "site/log.html",
            row=found,
            name=self._runs.name(found),
            lines=lines,
            query=query,
            given=request.args,
            levels=list(LEVELS),
            older=_older(lines, query),
            older_query=_asked(before=_older(lines, query)),
            tail_query=_asked(),
            follows=found.is_active and not (query.before or query.around or query.until),
            after=_last(lines),
            dropped=_in_a_thread(index.dropped),
            unread=_in_a_thread(index.unread),
            session=session(),
        )

    def events(self, run: int) -> Response:
        found = lookup(self._runs, run)
        seen = request.headers.get("Last-Event-ID", request.args.get("after", "0"))
        after = number_of(seen)
        query = replace(_query(), before=0, around=0, after=after)
        return Response(self._tail(found, query), mimetype="text/event-stream")

    def download(self, run: int) -> Response:
        """Send all lines as JSON, one line each."""
        found = lookup(self._runs, run)
        name = f"{self._runs.name(found).replace(' #', '-')}.log.jsonl"
        answer = Response(self._all(found), mimetype="application/x-ndjson")
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer

    def as_json(self, run: int) -> Response:
        found = lookup(self._runs, run)
        most = min(max(request.args.get("most", 200, int), 1), _MOST)
        query = replace(_query(), most=most)
        self._keeper.update(found)
        lines = self._lines(found, query)
        dropped = _in_a_thread(self._keeper.index(found).dropped)
        older = _older(lines, query)
        return jsonify(lines=[_to_dict(line) for line in lines], dropped=dropped, before=older)

    def _tail(self, run: Run, query: LogQuery) -> Iterator[str]:
        """Yield new lines as events, until the run is over."""
        while True:
            # Taken before the lines are read, so no line is between the two.
            changed = self._keeper.next_change(run)
            new = self._new_lines(run, query, changed)
            if new.event:
                query = replace(query, after=new.last)
                yield new.event
            elif new.is_last:
                yield "event: end\ndata: {}\n\n"
                return
            elif not changed.wait(_KEEP_ALIVE):
                yield ": still here\n\n"

    def _new_lines(self, run: Run, query: LogQuery, changed: Event) -> _NewLines:
        """Return what is new for a browser; those that have seen the same lines get the same."""
        shared = self._shared.get(run.id)
        if shared is None or shared.changed is not changed:
            kept = {one: other for one, other in self._shared.items() if not other.changed.is_set()}
            shared = _Shared(changed, Semaphore(), {})
            self._shared = kept | {run.id: shared}
        with shared.turn:
            if query not in shared.lines:
                shared.lines[query] = self._read_new(run.id, query)
        return shared.lines[query]

    def _read_new(self, number: int, query: LogQuery) -> _NewLines:
        run = lookup(self._runs, number)
        while not run.is_active and self._keeper.update(run):
            pass
        lines = self._lines(run, query)
        rows = json.dumps(render("site/log_lines.html", lines=lines, query=query))
        event = f"id: {_last(lines)}\nevent: lines\ndata: {rows}\n\n" if lines else ""
        return _NewLines(_last(lines), event, not run.is_active)

    def _all(self, run: Run) -> Iterator[str]:
        # Numbers begin with 1, and a query after none finds the last lines.
        after, query = 0, LogQuery(most=_PIECE)
        while lines := self._lines(run, replace(query, after=after or -1)):
            after = lines[-1].id
            yield "".join(f"{json.dumps(_to_dict(line), ensure_ascii=False)}\n" for line in lines)

    def _lines(self, run: Run, query: LogQuery) -> list[LogLine]:
        return _in_a_thread(query.lines, self._keeper.index(run))


def _query() -> LogQuery:
    """Return the query that the request asks for; what is not a number or time does not count."""
    text = {
        name: request.args.get(name, "").strip()[:_LONGEST]
        for name in ("words", "level", "request", "host")
    }
    numbers = {name: request.args.get(name, 0, int) for name in ("before", "after", "around")}
    times = {name: _time(request.args.get(name, "")) for name in ("since", "until")}
    return LogQuery(**text, **{n: min(max(v, 0), 1 << 62) for n, v in numbers.items()}, **times)  # type: ignore[arg-type]


def _asked(**more: int) -> str:
    """Return the query string of the request without places in the log, and with *more*."""
    given = {name: value for name, value in request.args.items() if name in _FILTERS and value}
    return urlencode(given | more)


def _time(text: str) -> float | None:
    """Return a time such as 2026-11-18T04:10 as seconds since 1970; `zone` is its offset in minutes."""
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None:
            offset = timedelta(minutes=request.args.get("zone", 0, int))
            at = (at + offset).replace(tzinfo=UTC)
        return at.timestamp()
    except (ValueError, OverflowError):
        return None


def _older(lines: list[LogLine], query: LogQuery) -> int:
    """Return the number of the line before which there may be older ones; 0 if there are none."""
    return lines[0].id if len(lines) == query.most and not (query.after or query.around) else 0


def _last(lines: list[LogLine]) -> int:
    return lines[-1].id if lines else 0


def _to_dict(line: LogLine) -> dict[str, Any]:
    at = datetime.fromtimestamp(line.at, UTC).isoformat(timespec="milliseconds")
    fields = {name: value for name, value in asdict(line).items() if name != "at"}
    return {"ts": at} | fields | {"level": line.level_name}


def _in_a_thread(function: Callable[..., Value], *arguments: object) -> Value:
    """Call *function* beside the hub: a disk may be slow."""
    value: Value = gevent.get_hub().threadpool.apply(function, arguments)
    return value
