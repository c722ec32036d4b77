"""AfterFetch: what comes after a fetch."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from ..data import Request, Response
from ..errors import ModuleError, Refusal, Retry
from ..http.redirect import PERMANENT, is_redirect
from .admission.admission import Admission
from .hosts.politeness import Politeness
from .outcome import Outcome, failed, refused
from .retries import Retries

_MOST_MOVED = 10_000


class Next(Enum):
    """What comes after a fetch, if it was not the end of the request."""

    ANALYZE = "analyze"
    AGAIN = "again"


class RetryLater(NamedTuple):
    """The same *request* once more, after *wait* seconds."""

    request: Request
    wait: float


class Hop(NamedTuple):
    """The *request* as it was redirected."""

    request: Request


class AfterFetch:
    """
    Decides what comes after a fetch; it is the frontier that does it.

    A retry comes before a redirect: a response that is worth another try is not followed.
    Attempts are those at one URL, so each hop has all of them. Where *is_dead* says that a
    URL's host was given up, no hop leads.
    """

    def __init__(
        self,
        admission: Admission,
        retries: Retries,
        politeness: Politeness,
        is_dead: Callable[[str], bool],
    ) -> None:
        #: Where pages have gone for good, as far as there is room to remember.
        self.moved: dict[str, str] = {}
        self._admission = admission
        self._retries = retries
        self._politeness = politeness
        self._is_dead = is_dead

    def after(
        self, request: Request, result: Response | ModuleError, *, is_last: bool
    ) -> Next | Outcome | RetryLater | Hop:
        """Say what comes after *request* ended with *result*; no more tries if it *is_last*."""
        cause = result.__cause__ if isinstance(result, ModuleError) else None
        if isinstance(cause, Refusal):
            return refused(cause.reason)
        tries = len(request.attempts) + 1
        if not (is_last or self._admission.shut) and self._retries.worth_another(result, tries):
            return self._another(request, result, cause)
        if isinstance(result, ModuleError):
            return failed(result.kind)
        return self._hop(request, result) if is_redirect(result) else Next.ANALYZE

    def _another(
        self, request: Request, result: Response | ModuleError, cause: BaseException | None
    ) -> RetryLater:
        attempts = (*request.attempts, _told(result))
        wait = self._politeness.growing(self._retries.wait, len(attempts))
        least = cause.delay if isinstance(cause, Retry) else 0.0
        return RetryLater(request.replace(attempts=attempts), max(wait, least))

    def _hop(self, request: Request, response: Response) -> Outcome | Hop:
        hop = self._admission.hop(request, response)
        if isinstance(hop, Outcome):
            return hop
        if self._is_dead(hop.url):
            return failed("host")
        if response.status in PERMANENT and len(self.moved) < _MOST_MOVED:
            self.moved[request.url] = hop.url
        return Hop(hop.replace(attempts=()))


def _told(result: Response | ModuleError) -> str:
    return f"status {result.status}" if isinstance(result, Response) else result.reason
