"""QueueFigures: how many URLs a crawl has in all, and how many of them are over."""

from __future__ import annotations

from dataclasses import dataclass

from ..frontier import UrlCounts


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """
    total = success + failed + refused + left, at every moment.

    *total* is the number of URLs admitted; *left* is the number that wait or are in flight.
    """

    total: int
    success: int
    failed: int
    refused: int

    @classmethod
    def of(cls, counts: UrlCounts) -> QueueFigures:
        """Return the one definition of these figures, for reports, pages, API and metrics."""
        failed, refused = sum(counts.failed.values()), sum(counts.refused.values())
        return cls(counts.admitted, counts.done, failed, refused)

    @property
    def left(self) -> int:
        return self.total - self.success - self.failed - self.refused

    def to_dict(self) -> dict[str, int]:
        names = ("left", "total", "success", "failed", "refused")
        return {name: getattr(self, name) for name in names}
