"""AfterFetch: what comes after a fetch: another try, a redirect hop, the analysis or the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..data import Request, Response
from ..errors import ModuleError, Refusal, Retry
from ..http.redirect import PERMANENT, is_redirect
from .admission.admission import Admission
from .contract import Next
from .hosts.politeness import Politeness
from .outcome import Outcome, failed, refused
from .retries import Retries

_MOST_MOVED = 10_000


class RetryLater(NamedTuple):
    """The same *request* once more, after *wait* seconds."""

    request: Request
    wait: float


class Hop(NamedTuple):
    """The *request* as it was redirected."""

    request: Request


class AfterFetch:
    """
    Decides what comes after a fetch; the frontier carries it out.

    A retry comes before a redirect: a response that is worth another try is not followed.
    Attempts are those at one URL, so each hop has all of them. A hop to a host that was given
    up, as *is_dead* returns, ends the request.
    """

    def __init__(
        self,
        admission: Admission,
        retries: Retries,
        politeness: Politeness,
        is_dead: Callable[[str], bool],
    ) -> None:
        #: By URL, where pages have moved for good; up to a number of them.
        self.moved: dict[str, str] = {}
        self._admission = admission
        self._retries = retries
        self._politeness = politeness
        self._is_dead = is_dead

    def decide(
        self, request: Request, result: Response | ModuleError, *, is_last: bool
    ) -> Next | Outcome | RetryLater | Hop:
        """Return what comes after *request* ended with *result*; no more tries if it *is_last*."""
        cause = result.__cause__ if isinstance(result, ModuleError) else None
        if isinstance(cause, Refusal):
            return refused(cause.reason)
        tries = len(request.attempts) + 1
        is_last = is_last or self._admission.shut_for_begun is not None
        if not is_last and self._retries.worth_another(result, tries):
            return self._another(request, result, cause)
        if isinstance(result, ModuleError):
            return failed(result.kind)
        if is_redirect(result) and self._admission.follows(request):
            return self._hop(request, result)
        return Next.ANALYZE

    def _another(
        self, request: Request, result: Response | ModuleError, cause: BaseException | None
    ) -> RetryLater:
        attempts = (*request.attempts, described(result))
        wait = self._politeness.growing_wait(self._retries.wait, len(attempts))
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


def kind_of(result: Response | ModuleError) -> str:
    return f"http_{result.status}" if isinstance(result, Response) else result.kind


def described(result: Response | ModuleError) -> str:
    return f"status {result.status}" if isinstance(result, Response) else result.reason
