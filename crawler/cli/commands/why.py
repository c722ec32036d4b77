"""``crawler why URL``: the whole story of a URL."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...errors import JobError
from ..job_paths import job_at
from ..options import JOBS, json_option, verbose_option
from ..text import printable

if TYPE_CHECKING:
    from ...job.view import Story

#: What decided, for each reason to turn away, refuse or fail.
RULES = {
    "invalid": "it is no URL that a browser would follow",
    "scheme": "only http and https are crawled",
    "domain": "its domain is not among the accepted ones (setting: domains)",
    "depth": "it is too many links away from a first page (setting: depth)",
    "length": "it is longer than URLs are",
    "include": "it matches none of the patterns wanted (setting: include)",
    "exclude": "it matches a pattern that is not wanted (setting: exclude)",
    "seen": "where it was sent had been met before",
    "robots": "robots.txt of its host does not allow it (setting: robots)",
    "host": "its host had failed too often in a row and was given up (setting: politeness.give_up_after)",
    "host_cap": "its host had enough pages (setting: max_pages_per_host)",
    "trap_depth": "its path is deeper than those of honest sites",
    "trap_repeat": "its path repeats itself, as traps do",
    "trap_calendar": "too many URLs differ from it in nothing but a date",
    "trap_query": "too many URLs differ from it in nothing but the query",
    "page_limit": "the crawl had enough pages (setting: max_pages); the same command goes on",
    "byte_limit": "the crawl had enough bytes (setting: max_bytes); the same command goes on",
    "time_limit": "the crawl's time was over (setting: max_seconds); the same command goes on",
    "error_limit": "too many pages had failed (setting: max_errors); the same command goes on",
    "redirect_limit": "it was sent on more often than is followed",
    "redirect_loop": "it was sent to where it had been",
    "dns": "the name of its host could not be resolved",
    "connect": "its host could not be reached",
    "tls": "its host could not prove who it is",
    "timeout": "it took longer than is waited (settings: timeout, limits.connect, limits.stall)",
    "too_large": "it is larger than is accepted (setting: max_body)",
    "truncated": "the connection ended before the page did",
    "protocol": "the answer was no HTTP",
    "bad_encoding": "its Content-Encoding could not be undone",
    "blocked_address": "its host has a private address (settings: allow_private, allow_addresses)",
    "quarantined": "the process ended three times while it was analysed",
    "damaged": "its entry in the state file was damaged",
}


@click.command()
@click.argument("url")
@click.option("--job", type=click.Path(file_okay=False), help="Ask this job only.")
@json_option
@verbose_option
def why(url: str, job: str | None, as_json: bool) -> None:
    """Tell the whole story of a URL: where it was found, each attempt, and what decided.

    Every job below ./crawls is asked, unless --job names one. Exits with 1 if none has met it,
    or one of them cannot be read.

    Example: crawler why https://example.org/private
    """
    from ...job.view import find_jobs

    met = damaged = False
    for path in [job_at(job)] if job else find_jobs(JOBS):
        try:
            stories = _stories(path, url)
        except JobError as error:
            damaged = True
            _tell_error(path, error, as_json=as_json)
            continue
        for story in stories:
            met = True
            told = {"job": str(path)} | story.to_dict()
            click.echo(json.dumps(told) if as_json else _told(path, story))
    if not met:
        click.echo(
            f"crawler: no job{' that can be read' * damaged} has met {printable(url)}", err=True
        )
    sys.exit(int(damaged or not met))


def _stories(path: Path, url: str) -> list[Story]:
    from ...job.view import JobView

    with JobView(path) as view:
        return view.why(url)


def _tell_error(path: Path, error: JobError, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"job": str(path), "error": str(error)}))
    else:
        click.echo(f"crawler: {printable(error)}", err=True)


def _told(path: Path, story: Story) -> str:
    return "\n".join(map(printable, _lines(path, story)))


def _lines(path: Path, story: Story) -> Iterator[str]:
    yield f"{story.url}  (in {path})"
    where = f"on {story.found_on}" if story.found_on else "as a first URL"
    yield f"  {_when(story.met)}  found {where}, at depth {story.depth}"
    for number, attempt in enumerate(story.attempts, 1):
        yield f"  {'':19}  attempt {number}: {attempt}"
    for url in story.redirects:
        yield f"  {'':19}  sent to {url}"
    if story.code is not None:
        took = f" in {story.seconds:.3f} s" if story.seconds is not None else ""
        yield f"  {'':19}  answered {story.code}, {story.bytes} bytes{took}"
    yield f"  {_when(story.ended)}  {_ending(story)}"


def _ending(story: Story) -> str:
    if story.status == "pending":
        return "waiting: it has not been fetched to the end yet"
    words = story.status.replace("_", " ")
    rule = RULES.get(story.reason, "")
    return f"{words} ({story.reason}): {rule}".removesuffix(": ") if story.reason else words


def _when(seconds: float | None) -> str:
    if seconds is None:
        return " " * 19
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
