"""When the cron line of a task is due."""

from __future__ import annotations

from datetime import datetime
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim

from ..store.tasks import Task, wrong_cron

#: Seconds after which a time was missed, and after which it is not made up for.
_ON_TIME, _LATEST = 90.0, 3600.0


def next_times(cron: str, zone: ZoneInfo, after: float, most: int = 5) -> list[datetime]:
    """Return the next times of a cron line, in its zone."""
    start = datetime.fromtimestamp(after, zone)
    return list(islice(CronSim(cron, start), most))


def task_times(task: Task, after: float, most: int) -> list[float]:
    """Return the next times of a task; none if its timetable is off or wrong."""
    if not task.cron or not task.enabled or wrong_cron(task.cron):
        return []
    return [at.timestamp() for at in next_times(task.cron, task.tzinfo, after, most)]


def due_time(task: Task, checked: float, now: float) -> float | None:
    """
    Return the time of *task* to fire for, of those after *checked* up to *now*; None if none.

    However many times have passed, only the last one counts.
    """
    if not task.cron or not task.enabled:
        return None
    start = datetime.fromtimestamp(max(checked, now - _LATEST), task.tzinfo)
    times = takewhile(lambda at: at.timestamp() <= now, CronSim(task.cron, start))
    # Where an hour happens twice, cronsim also returns times before its start.
    later = (at.timestamp() for at in times if at.timestamp() > checked)
    last: float | None = max(later, default=None)
    if last is None or (now - last > _ON_TIME and task.misfire == "skip"):
        return None
    return last
