"""``crawler cluster report``: the figures of a whole job."""

from __future__ import annotations

import json
from typing import Any

import click

from ....report.text import printable
from ...options import json_option, verbose_option
from .options import redis_option


@click.command()
@click.argument("name")
@redis_option
@json_option
@verbose_option
def report(name: str, redis_url: str, as_json: bool) -> None:
    """Print the report of a job, finished or not: its pages, and why others are not among them.

    The figures are those of all schedulers, as Redis has them. The errors of callbacks are in the
    directory of the collector: `crawler report` prints them.

    Example: crawler cluster report quotes --redis redis://localhost:6379
    """
    from ....cluster.status import job_status
    from ....frontier import UrlCounts
    from ...cluster_collect import rows_of

    found = job_status(redis_url, name)
    if as_json:
        names = ("job", "status", "seconds", "urls", "inbox_bytes", "log_bytes", "takeovers")
        click.echo(json.dumps({name: found[name] for name in names}, indent=4))
        return
    for label, text in [*rows_of(UrlCounts(**found["urls"])), *_rows(found)]:
        click.echo(printable(f"{label:<14}{text}"))


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if found["inbox_bytes"]:
        rows += [("on their way", f"{found['inbox_bytes']} bytes of links to other shards")]
    if found["collector_lag"]:
        rows += [("uncollected", f"{found['log_bytes']} bytes of records")]
    if found["takeovers"]:
        rows += [("takeovers", f"{found['takeovers']} of shards whose scheduler was lost")]
    schedulers = len(found["schedulers"])
    by = f", {schedulers} schedulers work on it" if schedulers else ""
    return [*rows, ("job", f"{found['job']}, {found['status']}{by}")]
