"""``crawler jobs``: the jobs of a directory."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import JobError
from ...report.text import printable, total
from ..options import JOBS, json_option, verbose_option

if TYPE_CHECKING:
    from ...job.view import JobView


@click.command()
@click.argument("directory", default=JOBS, type=click.Path(file_okay=False))
@json_option
@verbose_option
def jobs(directory: str, as_json: bool) -> None:
    """List the jobs in a directory and the progress of each.

    Each `crawler crawl` and `crawler run` works in a job directory: one below ./crawls, or the one
    that --job names. Run the same command again to continue the job, and with --retry-failed to
    fetch its failed pages again. This command exits with 1 if a job cannot be read; it lists the
    others.

    Example: crawler jobs crawls --json
    """
    from ...job.view import find_jobs

    found = find_jobs(directory)
    if not found and directory != JOBS and not Path(directory).is_dir():
        raise click.UsageError(f"no such directory: {directory!r}")
    if not found:
        click.echo(f"crawler: no jobs below {directory!r}", err=True)
    unreadable = 0
    for path in found:
        description = _describe(path)
        unreadable += "error" in description
        click.echo(json.dumps(description) if as_json else _line(description))
    sys.exit(int(unreadable > 0))


def _describe(path: Path) -> dict[str, Any]:
    """Return what `crawler jobs --json` prints for the job at *path*, or why it cannot be read."""
    from ...job.view import JobView

    try:
        with JobView(path) as job:
            return _figures(job)
    except JobError as error:
        return {"job": str(path), "error": str(error)}


def _figures(job: JobView) -> dict[str, Any]:
    counts = job.counts()
    return {
        "job": str(job.path),
        "state": job.state,
        "reason": job.reason,
        "user": job.user,
        "done": counts.done,
        "failed": total(counts.failed),
        "pending": counts.pending,
        "spider": job.about.get("spider"),
        "began": job.fact("began"),
    }


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        return printable(f"{row['job']:<30} unreadable {row['error']}")
    figures = f"{row['done']:7} done {row['failed']:6} failed {row['pending']:7} pending"
    why = row["user"] or (row["reason"] if row["state"] == "unfinished" else "")
    more = f"  ({why})" if why else ""
    return printable(f"{row['job']:<30} {row['state']:<10} {figures}  {_day(row['began'])}{more}")


def _day(seconds: float | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else ""
