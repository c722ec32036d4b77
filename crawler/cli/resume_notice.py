"""What a command prints about the job that it continues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from .text import printable, total

if TYPE_CHECKING:
    from ..job.directory import Job


def print_recovered(job: Job, pending: int) -> None:
    """Print on stderr what the job directory had; *pending* requests are left now."""
    for line in _lines(job, pending):
        click.echo(printable(line), err=True)


def _lines(job: Job, pending: int) -> Iterator[str]:
    found = job.recovered
    if found is None or not found.counts.admitted:
        return
    counts = found.counts
    ended = f"{counts.done} done, {total(counts.failed)} failed"
    if pending:
        yield f"continuing {job.path}: {ended}, {pending} left (--fresh starts over)"
    else:
        yield f"{job.path} has nothing left to do: {ended} (--fresh crawls again)"
    for change in job.changes:
        yield f"{job.path}: {change}"
    if found.lost_commits is None:
        yield f"{job.path}: the last commits may be missing; their pages may be fetched again"
    elif found.lost_commits:
        yield f"{job.path}: the last {found.lost_commits} commits are missing and will be redone"
    if found.damaged:
        yield f"{job.path}: {found.damaged} damaged rows were set aside or reopened"
    if found.struck_out:
        yield f"{job.path}: one page ended the process too often and was quarantined"
