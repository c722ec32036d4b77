"""LiveRun: a crawl in this process, as its page sees and steers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gevent

from ..job.view import JobView, Story
from ..report.progress import Moment, Progress
from ..scheduler import Scheduler, Summary
from .figures import RunFigures, of_moment
from .host_delay import HostDelay
from .records import RecentRecords


class LiveRun:
    """The crawl of *scheduler* in the job directory *job*; *stop* ends it as Ctrl-C does."""

    def __init__(
        self,
        scheduler: Scheduler,
        progress: Progress,
        records: RecentRecords,
        job: Path,
        stop: Callable[[], object],
    ) -> None:
        self.job = job
        self.stop = stop
        self._scheduler = scheduler
        self._progress = progress
        self._records = records
        self.moment: Moment = progress.update(scheduler.summary())

    @property
    def name(self) -> str:
        return self.job.resolve().name

    def figures(self) -> RunFigures:
        """Return the figures of the last moment that was shown."""
        return of_moment(
            self.moment,
            self._progress,
            name=self.name,
            errors=self._scheduler.error_lines(),
            records=self._records.shown(),
        )

    def summary(self) -> Summary:
        return self._scheduler.summary()

    def host_states(self) -> dict[str, int]:
        return dict(self._scheduler.host_states())

    def pause(self) -> None:
        self._scheduler.pause()
        self._renew()

    def resume(self) -> None:
        self._scheduler.resume()
        self._renew()

    def set_delay(self, delay: HostDelay) -> None:
        self._scheduler.set_delay(delay.host, delay.seconds)
        self._renew()

    def _renew(self) -> None:
        """Let the page that follows a command show its effect."""
        self.moment = replace(self.moment, summary=self._scheduler.summary())

    def why(self, url: str) -> list[Story]:
        """Return what happened to *url*; read in a thread, because a large job takes a while."""
        stories: list[Story] = gevent.get_hub().threadpool.apply(_look_up, (self.job, url))
        return stories


def _look_up(job: Path, url: str) -> list[Story]:
    with JobView(job) as view:
        return view.why(url)
