"""The page of the URLs of a run, by outcome and reason."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import request

from ...report.reasons import STATUSES
from ..rendering import render
from ..runs.run_view import RunView
from ..store.database import Database
from ..store.runs import Runs
from .api_input import number_in_query
from .lookup import lookup
from .visitor import Route, session

#: The number of URLs on a page, and the largest place of one.
_MOST, _LARGEST = 100, 1 << 62


class UrlPages:
    def __init__(self, database: Database, view: RunView) -> None:
        self._runs = Runs(database)
        self._view = view

    def routes(self) -> list[Route]:
        return [Route("/runs/<int:run>/urls", "GET", self.urls, "viewer")]

    def urls(self, run: int) -> str:
        found = lookup(self._runs, run)
        outcome, reason = (request.args.get(name, "").strip() for name in ("outcome", "reason"))
        after = number_in_query("after", 0, _LARGEST)
        stories = self._view.urls(found, outcome or None, reason or None, after, _MOST + 1)
        more = {"outcome": outcome, "reason": reason, "after": after + _MOST}
        return render(
            "site/urls.html",
            name=self._runs.name(found),
            stories=stories[:_MOST],
            outcome=outcome,
            reason=reason,
            statuses=STATUSES,
            more=urlencode(more) if stories[_MOST:] else "",
            session=session(),
        )
