"""StallWatch: notices runs in which nothing ends any more, though it could."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic, time

import gevent

from ..figures import RunFigures
from ..store.alarms import Alarms
from ..store.database import Database
from ..store.runs import Run, Runs

log = logging.getLogger(__name__)

#: Seconds between two looks at runs, and without an end of a URL after which a run is stalled.
_INTERVAL, _STALLED = 15.0, 300.0


class StallWatch:
    """
    *look* returns the figures of a run.

    A run is stalled if no response has come and no URL has ended for 5 minutes, unless it is
    paused or its next request is due later.
    """

    def __init__(
        self,
        database: Database,
        look: Callable[[Run], RunFigures],
        clock: Callable[[], float] = time,
        steady: Callable[[], float] = monotonic,
    ) -> None:
        self._runs, self._alarms = Runs(database), Alarms(database)
        self._look = look
        self._clock, self._steady = clock, steady
        #: By run, what had ended when it was looked at, and since when by the steady clock.
        self._seen: dict[int, tuple[object, float]] = {}

    def serve(self) -> None:
        """Step for ever."""
        while True:
            gevent.sleep(_INTERVAL)
            try:
                self.step()
            except Exception:  # a full disk, say, is reported, and tried again
                log.exception("the portal could not look whether runs go on")

    def step(self) -> None:
        running = [run for run in self._runs.active() if run.state == "running"]
        self._seen = {run.id: self._seen[run.id] for run in running if run.id in self._seen}
        for run in running:
            self._check(run, self._look(run))

    def _check(self, run: Run, figures: RunFigures) -> None:
        now = self._steady()
        ended = (figures.state, figures.queue.total - figures.queue.left, _responses(figures))
        known, since = self._seen.get(run.id, (None, now))
        if ended != known or figures.state == "paused" or _next_due(figures) > _INTERVAL:
            self._seen[run.id] = (ended, now)
            if run.stalled is not None:
                self._runs.set_stalled(run, None)
        elif now - since >= _STALLED and run.stalled is None:
            self._runs.set_stalled(run, self._clock() - (now - since))
            self._alarms.add(self._runs.name(run), _words(figures), self._clock(), run.project)


def _responses(figures: RunFigures) -> int:
    return int(figures.summary.get("responses", 0))


def _next_due(figures: RunFigures) -> float:
    """Return the seconds until the next request is due; 0 if one is, or none waits."""
    return float(figures.summary.get("next_wake") or 0.0)


def _words(figures: RunFigures) -> str:
    cause = figures.limit or "its process does not answer, or nothing is named as the cause"
    remedy = f"; {figures.remedy}" if figures.remedy else ""
    return f"nothing has ended for 5 minutes: {cause}{remedy}"
