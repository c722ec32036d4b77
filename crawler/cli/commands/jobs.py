"""``crawler jobs``, ``crawler urls JOB``, ``crawler report JOB``: what job directories tell."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import JobError
from ..options import JOBS, json_option, verbose_option
from ..text import listed, printable, total

if TYPE_CHECKING:
    from ...frontier import UrlCounts
    from ...job.view import JobView

_STATUSES = ("done", "failed", "refused", "turned_away", "pending")


@click.command()
@click.argument("directory", default=JOBS, type=click.Path(file_okay=False))
@json_option
@verbose_option
def jobs(directory: str, as_json: bool) -> None:
    """List the jobs in a directory, and how far each has got.

    Each `crawler crawl` and `crawler run` works in a job directory, below ./crawls unless
    --job names another; the same command again goes on where it ended. Exits with 1 if one of
    them cannot be read.
    """
    from ...job.view import find_jobs

    found = find_jobs(directory)
    if not found and directory != JOBS and not Path(directory).is_dir():
        raise click.UsageError(f"there is no directory {directory!r}")
    if not found:
        click.echo(f"crawler: there is no job below {directory!r}", err=True)
    unreadable = 0
    for path in found:
        told = _told_of(path)
        unreadable += "error" in told
        click.echo(json.dumps(told) if as_json else _line(told))
    sys.exit(int(unreadable > 0))


def _told_of(path: Path) -> dict[str, Any]:
    """Describe the job at *path*, or say why that cannot be done."""
    from ...job.view import JobView

    try:
        with JobView(path) as job:
            return _described(job)
    except JobError as error:
        return {"job": str(path), "error": str(error)}


def _described(job: JobView) -> dict[str, Any]:
    counts, user = job.counts(), job.user
    state = "running" if user else "unfinished" if counts.pending else "finished"
    return {
        "job": str(job.path),
        "state": state,
        "user": user,
        "done": counts.done,
        "failed": total(counts.failed),
        "pending": counts.pending,
        "spider": job.about.get("spider"),
        "began": job.fact("began"),
    }


def _line(told: dict[str, Any]) -> str:
    if "error" in told:
        return printable(f"{told['job']:<30} unreadable {told['error']}")
    figures = f"{told['done']:7} done {told['failed']:6} failed {told['pending']:7} pending"
    by = f"  ({told['user']})" if told["user"] else ""
    return printable(f"{told['job']:<30} {told['state']:<10} {figures}  {_day(told['began'])}{by}")


def _day(seconds: float | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else ""


@click.command()
@click.argument("job", type=click.Path(file_okay=False))
@click.option("--outcome", type=click.Choice(_STATUSES), help="Only those that ended like this.")
@click.option("--reason", help="Only those with this reason, such as timeout or robots.")
@json_option
@verbose_option
def urls(job: str, outcome: str | None, reason: str | None, as_json: bool) -> None:
    """Print every URL a job has met, with its one outcome.

    A line has the outcome, the URL as it was asked for, and where it was sent, if it was.
    With --json it is one object: url, status, reason, depth, found_on, code, bytes,
    seconds, redirects, attempts, met and ended (seconds since 1970).

    JOB is a directory, or the name of one below ./crawls.

    Example: crawler urls example.org --outcome failed
    """
    from ...job.view import JobView

    with JobView(job_at(job)) as view:
        for story in view.urls(outcome, reason):
            if as_json:
                click.echo(json.dumps(story.to_dict()))
            else:
                ending = f"{story.status}({story.reason})" if story.reason else story.status
                chain = "".join(f" -> {url}" for url in story.redirects)
                click.echo(printable(f"{ending:<20} {story.url}{chain}"))


@click.command()
@click.argument("job", required=False, type=click.Path(file_okay=False))
@json_option
@verbose_option
def report(job: str | None, as_json: bool) -> None:
    """Print the final report of a job again; without JOB, of the one that was used last.

    JOB is a directory, or the name of one below ./crawls. Of a job that is running, or did not
    come to an orderly end, it tells what is certain: how each URL has ended that has.
    """
    from ...job.view import JobView

    with JobView(job_at(job) if job else last_job(JOBS)) as view:
        final, user = view.fact("report"), view.user
        if user or final is None or final["commits"] != view.fact("commits"):
            final = _unfinished(view.counts(), user)
        if as_json:
            click.echo(json.dumps(final["summary"], indent=4))
            return
        from ..live_view import Screen
        from ..report import print_rows

        print_rows(Screen(soft_wrap=True), final["rows"])


def _unfinished(counts: UrlCounts, user: str) -> dict[str, Any]:
    from dataclasses import asdict

    rows = [("pages", f"{counts.done} done, {total(counts.failed)} failed, {counts.pending} left")]
    named = {"failed": counts.failed, "refused": counts.refused, "turned away": counts.turned_away}
    rows += [(label, listed(reasons)) for label, reasons in named.items() if reasons]
    ended = ("ended", "not by itself: the same command goes on with it")
    rows.append(("running", user) if user else ended)
    return {"rows": rows, "summary": {"urls": asdict(counts), "user": user}}


def job_at(place: str) -> Path:
    """Return the directory that *place* names: one here, or a job below ./crawls."""
    from ...job.directory import STATE

    here, below = Path(place), Path(JOBS) / place
    return below if (below / STATE).is_file() and not (here / STATE).is_file() else here


def last_job(root: str) -> Path:
    from ...job.directory import STATE
    from ...job.view import find_jobs

    found = find_jobs(root)
    if not found:
        raise click.UsageError(f"there is no job below {root!r}: name a job directory")
    return max(found, key=lambda path: (path / STATE).stat().st_mtime)
