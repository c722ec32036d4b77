"""The job directory, the output files and the quality gates that the options of a crawl name."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from ..errors import CrawlerError
from ..feed import Feed
from ..job.directory import MARKER, STATE, Job
from ..job.view import directory_name
from ..report.gates import Gate
from .options import JOBS, CrawlOptions


def gates_of(conditions: Iterable[str], min_items: int | None) -> list[Gate]:
    try:
        gates = [Gate.parse(condition) for condition in conditions]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return gates if min_items is None else [*gates, Gate.at_least(min_items)]


def open_job(options: CrawlOptions, name: str) -> Job:
    """Open the directory that --job names, or the one of *name*; --fresh empties it first."""
    path = Path(options.job or Path(JOBS) / directory_name(name))
    if options.fresh and any((path / name).exists() for name in (STATE, MARKER)):
        if sys.stdin.isatty() and sys.stderr.isatty():
            click.confirm(f"Delete the state in {path} and start over?", abort=True, err=True)
        Job.clear(path)
    job = Job(path)
    if options.retry_failed is not None:
        job.retry_failed(*filter(None, [options.retry_failed]))
    return job


def open_feeds(job: Job, options: CrawlOptions, default: str) -> list[Feed]:
    """Open the files that -o and -O name, or else *default*; the job closes them."""
    named = [(name, True) for name in options.append_to]
    named += [(name, False) for name in options.write_to]
    files = [name for name, _ in named or [(default, False)] if name != "-"]
    job.check_outputs([*files, *([options.warc] if options.warc else [])])
    try:
        return [job.open_feed(name, append=append) for name, append in named or [(default, False)]]
    except (ValueError, OSError, CrawlerError) as error:
        raise click.UsageError(str(error)) from None
