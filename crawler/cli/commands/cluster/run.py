"""``crawler cluster run``: schedulers and collector of a job on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ...options import common_options, json_option
from .options import feed_options, redis_option, with_job_options


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="SPIDER.py|URL...")
@with_job_options
@click.option("--job", "name", help="The name of the job.  [default: that of the spider]")
@click.option(
    "--schedulers",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="The number of scheduler processes.",
)
@feed_options
@redis_option
@json_option
@common_options
def run(
    what: tuple[str, ...],
    arguments: Sequence[str],
    assigned: Sequence[str],
    name: str | None,
    redis_url: str,
    schedulers: int,
    folder: str | None,
    write_to: Sequence[str],
    append_to: Sequence[str],
    shards: int | None,
    ttl: float | None,
    unsafe: bool,
    as_json: bool,
) -> None:
    """Crawl with several schedulers on this machine.

    Starts the job, works on it with N processes, and writes its records. Run the same command
    again to continue an interrupted crawl. Schedulers of other machines may join.

    Example: crawler cluster run quotes.py --schedulers 4 -O quotes.jsonl --redis redis://localhost
    """
    from ...cluster_run import LocalCluster, show

    crawl = LocalCluster(what, arguments, assigned, name=name, schedulers=schedulers)
    code, summary, rows = crawl.run(
        redis_url, (folder, write_to, append_to), shards=shards, ttl=ttl, unsafe=unsafe
    )
    show(summary, rows, as_json=as_json)
    sys.exit(code)
