"""Where a crawl ends, however much there is left; and what it has cost so far."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..data import Request
from .ledger import Ledger


@dataclass(frozen=True)
class Budget:
    """
    What a whole crawl may cost; None is no limit.

    When it is used up nothing new is taken, and what waits is settled as refused with the limit's
    name. *min_rate* is pages a second: a crawl that stays below it for *patience* seconds
    is cut off as ``slow``. *bandwidth*, in bytes a second, is kept to, not a reason to stop.
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


class Spending:
    """
    What a crawl has cost so far, held against its *budget*.

    A page is counted when its first fetch begins: retries and redirect hops are part of it.
    """

    def __init__(self, budget: Budget, ledger: Ledger) -> None:
        self.begun = 0
        self.bytes = 0
        #: When the bandwidth used so far will have been made up for.
        self.free_at = 0.0
        self._budget = budget
        self._ledger = ledger

    def begin(self, request: Request) -> bool:
        """Count *request* as a page, if it is a new one; say if there is one left."""
        if request.attempts or request.redirects:
            return True
        if self._budget.pages is not None and self.begun >= self._budget.pages:
            return False
        self.begun += 1
        return True

    def take_back(self, request: Request) -> None:
        """Undo begin(): *request* was not fetched after all."""
        self.begun -= not (request.attempts or request.redirects)

    def weigh(self, size: int, now: float) -> None:
        """Count the bytes of a body."""
        self.bytes += size
        if self._budget.bandwidth is not None:
            self.free_at = max(self.free_at, now) + size / self._budget.bandwidth

    @property
    def used_up(self) -> str | None:
        """The limit, of those for bytes and for errors, that has been reached; None if none has."""
        budget = self._budget
        if budget.bytes is not None and self.bytes >= budget.bytes:
            return "byte_limit"
        if budget.errors is not None and self._ledger.failed.total() >= budget.errors:
            return "error_limit"
        return None
