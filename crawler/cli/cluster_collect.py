"""The collector of a cluster's job as a command runs it, and the report at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import gevent

from ..feed import check_feed, local_path
from ..job.view import directory_name
from ..report.text import listed, total
from .interrupts import Interrupts
from .options import JOBS

if TYPE_CHECKING:
    from ..cluster.collector import Collector
    from ..frontier import UrlCounts
    from ..job.directory import Job

#: Seconds between two looks at a collector that runs.
_LOOK = 0.1


def collector_of(
    redis_url: str,
    name: str,
    folder: str | None,
    write_to: Sequence[str],
    append_to: Sequence[str],
) -> Collector:
    """Return the collector of a job, whose outputs were checked."""
    from ..cluster.collector import Collector
    from ..cluster.job_record import read_job

    place = local_path(folder or Path(JOBS) / directory_name(name))
    feeds = [(spec, True) for spec in append_to] + [(spec, False) for spec in write_to]
    feeds = feeds or [(str(place / "items.jsonl"), False)]
    for spec, _ in feeds:
        if spec == "-":
            raise click.UsageError(
                "the records of a cluster go to files: stdout cannot be cut back"
            )
        check_feed(spec)

    def open_feeds(job: Job) -> None:
        job.check_outputs([spec for spec, _ in feeds])
        for spec, append in feeds:
            job.open_feed(spec, append=append)

    return Collector(redis_url, read_job(redis_url, name), Path(place), open_feeds)


def collect(collector: Collector, meanwhile: Callable[[], object] = bool) -> int:
    """Collect until the job is over, or Ctrl-C; return the exit code."""
    with Interrupts() as interrupts:
        working: Any = gevent.spawn(collector.run)
        while not working.ready():
            if interrupts.first.is_set():
                interrupts.acknowledge()
                collector.stop()
            meanwhile()
            gevent.wait([working], timeout=_LOOK)
        working.get()
    return exit_code_of(collector)


def exit_code_of(collector: Collector) -> int:
    if collector.status != "finished":
        return 3
    counts = collector.counts
    if counts.refused and not (counts.done or counts.failed):
        return 4
    return int(bool(counts.failed))


def report_of(collector: Collector) -> list[tuple[str, str]]:
    job = ("job", f"{collector.folder}, {collector.status}")
    return [*rows_of(collector.counts), job]


def rows_of(counts: UrlCounts) -> list[tuple[str, str]]:
    """Return the rows of a report about the URLs of a job."""
    rows = [("pages", f"{counts.done} done, {total(counts.failed)} failed, {counts.pending} left")]
    named = {"failed": counts.failed, "refused": counts.refused, "turned away": counts.turned_away}
    return rows + [(label, listed(reasons)) for label, reasons in named.items() if reasons]


def summary_of(collector: Collector) -> dict[str, Any]:
    return {"urls": asdict(collector.counts), "status": collector.status}
