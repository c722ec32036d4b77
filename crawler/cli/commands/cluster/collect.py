"""``crawler cluster collect``: write the records of a job."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ...options import json_option, log_options
from .options import feed_options, redis_option


@click.command()
@click.argument("name")
@feed_options
@redis_option
@json_option
@log_options
def collect(
    name: str,
    folder: str | None,
    write_to: Sequence[str],
    append_to: Sequence[str],
    redis_url: str,
    as_json: bool,
) -> None:
    """Write the records of a job, each of them once.

    Runs until the job is finished and all is written; run the same command again to continue after
    an interruption. One collector works on a job at a time. The exit code is 1 if some pages
    failed, 3 if the job is not finished.

    Example: crawler cluster collect quotes -O quotes.jsonl --redis redis://localhost:6379
    """
    from ...cluster_collect import collect as run
    from ...cluster_collect import collector_of, report_of, summary_of
    from ...cluster_run import show
    from ...cluster_view import ClusterView
    from ...live_view import Screen

    collector = collector_of(redis_url, name, folder, write_to, append_to)
    with ClusterView(redis_url, name, Screen(stderr=True)):
        code = run(collector)
    show(summary_of(collector), report_of(collector), as_json=as_json)
    sys.exit(code)
