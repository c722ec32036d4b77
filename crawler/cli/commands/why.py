"""``crawler why URL``: what happened to a URL, and why."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..._words import counted
from ...errors import JobError
from ...report.reasons import explain
from ...report.text import printable
from ..job_paths import job_at
from ..options import JOBS, json_option, verbose_option

if TYPE_CHECKING:
    from ...job.view import Story

_WEB = ("http://", "https://")


@click.command()
@click.argument("url")
@click.option("--job", type=click.Path(file_okay=False), help="Look only in this job.")
@json_option
@verbose_option
def why(url: str, job: str | None, as_json: bool) -> None:
    """Explain what happened to a URL, and why.

    The command prints where the URL was found, each attempt to fetch it, and the rule that decided
    its outcome. It looks in every job below ./crawls, or in the one that --job names. It exits
    with 1 if no job has met the URL or a job cannot be read.

    Example: crawler why https://example.org/private
    """
    from ...job.view import find_jobs

    met = damaged = False
    left_out: dict[Path, Mapping[str, int]] = {}
    for path in [job_at(job)] if job else find_jobs(JOBS):
        try:
            stories, left_out[path] = _look_up(path, url)
        except JobError as error:
            damaged = True
            _print_error(path, error, as_json=as_json)
            continue
        for story in stories:
            met = True
            _print_story(path, story, as_json=as_json)
    if not met:
        jobs = "no readable job" if damaged else "no job"
        hint = "" if job else f"; the jobs are those below ./{JOBS}, and --job names another"
        click.echo(f"crawler: {jobs} has met {printable(url)}{hint}", err=True)
        _print_left_out(left_out, "link_limit" if url.startswith(_WEB) else "scheme")
    sys.exit(int(damaged or not met))


def _look_up(path: Path, url: str) -> tuple[list[Story], Mapping[str, int]]:
    """Return what happened to *url* in a job, and how many URLs the job has turned away."""
    from ...job.view import JobView

    with JobView(path) as view:
        return view.why(url), view.counts().turned_away


def _print_left_out(turned_away: dict[Path, Mapping[str, int]], reason: str) -> None:
    """Print which jobs may have left out the URL for *reason*, which leaves no record."""
    for path, numbers in turned_away.items():
        if number := numbers.get(reason):
            text = f"{path} has left out {counted(number, 'link')} unrecorded, maybe this one ({reason})"
            click.echo(printable(f"{text}: {explain(reason)}"), err=True)


def _print_error(path: Path, error: JobError, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"job": str(path), "error": str(error)}))
    else:
        click.echo(f"crawler: {printable(error)}", err=True)


def _print_story(path: Path, story: Story, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"job": str(path)} | story.to_dict()))
    else:
        click.echo("\n".join(map(printable, _lines(path, story))))


def _lines(path: Path, story: Story) -> Iterator[str]:
    yield f"{story.url}  (in {path})"
    yield f"  {_when(story.met)}  found {_place(story.found_on)}, at depth {story.depth}"
    if story.nearest_depth < story.depth:
        place = _place(story.nearest_on)
        yield f"  {'':19}  found again {place}, at depth {story.nearest_depth}"
    for number, attempt in enumerate(story.attempts, 1):
        yield f"  {'':19}  attempt {number}: {attempt}"
    for url in story.redirects:
        yield f"  {'':19}  redirected to {url}"
    if story.code is not None:
        took = f" in {story.seconds:.3f} s" if story.seconds is not None else ""
        yield f"  {'':19}  answered {story.code}, {story.bytes} bytes{took}"
    yield f"  {_when(story.ended)}  {_ending(story)}"
    yield from (f"  {'':19}  {line}" for line in story.trace.splitlines())


def _place(page: str | None) -> str:
    return f"on {page}" if page else "as a start URL"


def _ending(story: Story) -> str:
    if story.status == "pending":
        return "pending: it is not settled yet"
    status = story.status.replace("_", " ")
    if not story.reason:
        return status
    return f"{status} ({story.reason}): {explain(story.reason)}".removesuffix(": ")


def _when(seconds: float | None) -> str:
    if seconds is None:
        return " " * 19
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
