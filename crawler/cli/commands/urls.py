"""``crawler urls JOB``: every URL of a job, with its outcome."""

from __future__ import annotations

import json

import click

from ...report.reasons import STATUSES
from ...report.text import printable
from ..job_paths import job_at
from ..options import json_option, verbose_option


@click.command()
@click.argument("job", type=click.Path(file_okay=False))
@click.option("--outcome", type=click.Choice(STATUSES), help="Only URLs with this outcome.")
@click.option("--reason", help="Only URLs with this reason, such as timeout or robots.")
@json_option
@verbose_option
def urls(job: str, outcome: str | None, reason: str | None, as_json: bool) -> None:
    """Print every URL that a job has met, with its outcome.

    Each line has the outcome, the requested URL, and the URLs it was redirected to.
    With --json each line is an object: url, status, reason, depth, found_on, code, bytes,
    seconds, redirects, attempts, met and ended (seconds since 1970), nearest_depth and
    nearest_on (the smallest depth at which it was found, and on which page).

    JOB is a directory, or the name of a directory below ./crawls.

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
