"""Failures: tells everybody concerned that a request has failed, or is not fetched at all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from gevent.event import AsyncResult

from ..data import Request, Response
from ..errors import ModuleError, Refusal
from ..frontier import FrontierContract, Outcome
from ..module.errors_by_line import ErrorsByLine
from .error_pool import ErrorPool
from .visits import Visit

log = logging.getLogger(__name__)


class Failures:
    """A failure concerns its visit, the counts, those who read errors or wait, and the user's hook."""

    def __init__(
        self,
        frontier: FrontierContract,
        errors: ErrorPool,
        on_error: Callable[[ModuleError], Iterable[Request]] | None,
    ) -> None:
        self.by_line = ErrorsByLine()
        #: By id of the request, the result that a callback waits for: no parser gets the response.
        self.awaited: dict[str, AsyncResult[Response]] = {}
        self._frontier = frontier
        self._errors = errors
        self._on_error = on_error

    def report(self, visit: Visit, error: ModuleError) -> None:
        visit.fail(error.kind, self.by_line.add(error))
        awaited = self.awaited.get(visit.request.id)
        if awaited is not None:
            awaited.set_exception(error)
        log.debug("%s", error)
        self._errors.report(error)
        if self._on_error is not None:
            self._add_for(visit, error, self._on_error)

    def report_item(self, error: ModuleError) -> None:
        """Report the *error* of an item that no page has."""
        self.by_line.add(error)
        self._errors.report(error)

    def report_unfinished(self, error: ModuleError) -> None:
        """Report why a request is left to the next crawl: it counts nowhere in this one."""
        self._errors.report(error)

    def dropped(self, request: Request, outcome: Outcome) -> None:
        """Raise Refusal in the callback that waits for *request*, if one does."""
        awaited = self.awaited.get(request.id)
        if awaited is not None:
            awaited.set_exception(Refusal(outcome.reason, request.url))

    def _add_for(
        self,
        visit: Visit,
        error: ModuleError,
        on_error: Callable[[ModuleError], Iterable[Request]],
    ) -> None:
        """Admit the requests that *on_error* returns; until then *visit* is not over."""
        try:
            for request in on_error(error):
                self._frontier.admit(request, visit.taken)
        except Exception:  # the hook is the user's; the error itself is reported
            log.exception("on_error failed for %s", visit.request)
