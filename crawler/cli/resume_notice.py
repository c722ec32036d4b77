"""What a command prints about the job that it continues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._words import counted
from ..job.directory import STATE
from ..report.text import printable, size, total

if TYPE_CHECKING:
    from ..frontier import Recovered, UrlCounts
    from ..job.directory import Job


#: Bytes of state from which on a job takes some seconds to continue.
_LARGE = 50_000_000


def print_large(path: Path) -> None:
    """Print on stderr that there is much to read if the job in *path* has a large state."""
    state = path / STATE
    number = state.stat().st_size if state.exists() else 0
    if number >= _LARGE:
        text = f"{path}: reading {size(number)} of state; a large job takes some time to continue"
        click.echo(printable(text), err=True)


def print_recovered(job: Job, pending: int) -> None:
    """Print on stderr what the job directory had; *pending* requests are left now."""
    for line in _lines(job, pending):
        click.echo(printable(line), err=True)


def _lines(job: Job, pending: int) -> Iterator[str]:
    found = job.recovered
    if found is None:
        return
    if found.counts.admitted:
        yield from _continued(job, found.counts, pending)
    yield from _losses(job, found)


def _continued(job: Job, counts: UrlCounts, pending: int) -> Iterator[str]:
    ended = f"{counts.done} done, {total(counts.failed)} failed"
    if pending:
        yield f"continuing {job.path}: {ended}, {pending} left (--fresh starts over)"
    else:
        again = "--retry-failed fetches those again, " if counts.failed else ""
        yield f"{job.path} has nothing left to do: {ended} ({again}--fresh crawls again)"
    for change in job.changes:
        yield f"{job.path}: {change}"


def _losses(job: Job, found: Recovered) -> Iterator[str]:
    if found.lost_commits is None:
        yield f"{job.path}: the last commits may be missing; their pages may be fetched again"
    elif found.lost_commits:
        yield f"{job.path}: {counted(found.lost_commits, 'commit', 'is')} missing at the end, to be redone"
    if found.damaged:
        yield f"{job.path}: {counted(found.damaged, 'damaged row', 'was')} set aside or reopened"
    if found.struck_out:
        yield f"{job.path}: one page ended the process too often and was quarantined"
