"""Budget: what a crawl may cost. Spending: what it has cost so far."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..data import Request
from .ledger import Ledger, UrlCounts

#: The reason of requests that end because no page is left in the budget.
PAGE_LIMIT = "page_limit"
#: Reasons to refuse a URL that hold for one process only.
CUT_OFF = (PAGE_LIMIT, "byte_limit", "time_limit", "error_limit", "slow")
#: The start of an attempt that has failed at the robots.txt: the page itself was not asked for.
ROBOTS_ATTEMPT = "robots.txt: "


def is_begun(request: Request) -> bool:
    """Return whether *request* is a retry or a hop of a page, which has its place in the budget."""
    return bool(request.redirects) or not all(
        attempt.startswith(ROBOTS_ATTEMPT) for attempt in request.attempts
    )


@dataclass(frozen=True)
class Budget:
    """
    What a whole crawl may cost; None means no limit.

    When a limit is reached, nothing new is taken, and all that waits is settled as refused, with
    the name of the limit; but pages that were begun within *pages* come to their end, with
    their retries and redirect hops. *min_rate* is in pages a second: a crawl that stays below it for
    *patience* seconds is cut off as ``slow``. *bandwidth*, in bytes a second, slows the crawl
    down and does not end it.
    """

    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    errors: int | None = None
    min_rate: float | None = None
    patience: float = 60.0
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be more than 0, or None, not {value!r}")


def cut_off_by(counts: UrlCounts) -> str:
    """Return the limit because of which most URLs were left out; "" if none were."""

    def left_out(reason: str) -> int:
        return counts.refused.get(reason, 0) + counts.turned_away.get(reason, 0)

    limit = max(CUT_OFF, key=left_out)
    return limit if left_out(limit) else ""


class Spending:
    """
    What a crawl has cost so far, compared with its *budget*.

    A page is counted when its first fetch begins: retries and redirect hops are part of it.
    """

    def __init__(self, budget: Budget, ledger: Ledger) -> None:
        self.begun = 0
        self.bytes = 0
        #: The time before which the bandwidth limit lets nothing more be fetched.
        self.free_at = 0.0
        self._budget = budget
        self._ledger = ledger

    def begin(self, request: Request) -> bool:
        """Count *request* if it is a new page; return False if no page is left in the budget."""
        if is_begun(request):
            return True
        if self._budget.pages is not None and self.begun >= self._budget.pages:
            return False
        self.begun += 1
        return True

    def take_back(self, request: Request) -> None:
        """Undo begin() for *request*, which was not fetched."""
        self.begun -= not is_begun(request)

    def add_bytes(self, size: int, now: float) -> None:
        """Count the bytes of a body."""
        self.bytes += size
        if self._budget.bandwidth is not None:
            self.free_at = max(self.free_at, now) + size / self._budget.bandwidth

    @property
    def used_up(self) -> str | None:
        """The name of the byte or error limit if it has been reached; otherwise None."""
        budget = self._budget
        if budget.bytes is not None and self.bytes >= budget.bytes:
            return "byte_limit"
        if budget.errors is not None and self._ledger.failed.total() >= budget.errors:
            return "error_limit"
        return None
