"""The progress of a crawl in this process, read from its scheduler."""

from __future__ import annotations

from time import monotonic

from ..frontier import Budget, HostFigures
from ..report.progress import Moment, Progress
from ..scheduler import Scheduler

#: The number of busiest hosts that are read.
_BUSIEST = 20
#: Reading hosts may take this share of the time: it is slow with 100,000 of them.
_SHARE = 0.01


class CrawlProgress(Progress):
    """Progress that reads the figures of *scheduler* itself."""

    def __init__(self, scheduler: Scheduler, budget: Budget) -> None:
        super().__init__(scheduler.summary(), budget)
        self._scheduler = scheduler
        self._hosts_due = 0.0

    def read(self) -> Moment:
        return self.update(self._scheduler.summary(), self._busiest_hosts())

    def _busiest_hosts(self) -> list[HostFigures] | None:
        """Return the hosts with the most requests; None if they were read too recently."""
        begun = monotonic()
        if begun < self._hosts_due:
            return None
        rows = self._scheduler.hosts(_BUSIEST)
        self._hosts_due = monotonic() + (monotonic() - begun) / _SHARE
        return rows
