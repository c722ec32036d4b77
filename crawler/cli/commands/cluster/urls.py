"""``crawler cluster urls``: every URL of a job, with its outcome."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ....report.text import printable
from ...options import JOBS, json_option, verbose_option
from .options import redis_option

_STATUSES = ("done", "failed", "refused", "pending")


@click.command()
@click.argument("name")
@click.option("--outcome", type=click.Choice(_STATUSES), help="Only URLs with this outcome.")
@click.option("--reason", help="Only URLs with this reason, such as timeout or robots.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False),
    help="The directory of the collector.  [default: below ./crawls]",
)
@redis_option
@json_option
@verbose_option
def urls(
    name: str,
    outcome: str | None,
    reason: str | None,
    folder: str | None,
    redis_url: str,
    as_json: bool,
) -> None:
    """Print the URLs of a job, with their outcomes: those in Redis, and those that were collected.

    What waits is in Redis, and what has ended until it is collected. Then it is in the directory of the
    collector: run this command where that is, or only the URLs in Redis are printed. While schedulers
    work on the job, a URL may be printed twice: as one that waits, and as one that has ended.

    Example: crawler cluster urls quotes --outcome pending --redis redis://localhost:6379
    """
    for story in _stories(redis_url, name, folder):
        if outcome not in (None, story["status"]) or reason not in (None, story["reason"]):
            continue
        if as_json:
            click.echo(json.dumps(story))
        else:
            ending = story["status"] + (f"({story['reason']})" if story["reason"] else "")
            chain = "".join(f" -> {url}" for url in story["redirects"])
            click.echo(printable(f"{ending:<20} {story['url']}{chain}"))


def _stories(redis_url: str, name: str, folder: str | None) -> Iterator[dict[str, Any]]:
    from ....cluster.collected import last_position
    from ....cluster.job_urls import job_urls
    from ....feed import local_path
    from ....job.directory import STATE
    from ....job.view import JobView, directory_name

    place = Path(local_path(folder or Path(JOBS) / directory_name(name)))
    if folder is None and not (place / STATE).is_file():
        yield from job_urls(redis_url, name)
        click.echo(
            f"crawler: what was collected is not in {place}: name its directory with --dir",
            err=True,
        )
        return
    with JobView(place) as view:
        yield from job_urls(redis_url, name, last_position(view.fact).entry)
        for story in view.urls(None, None):
            yield story.to_dict()
