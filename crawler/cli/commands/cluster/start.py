"""``crawler cluster start``: create a job."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from ...options import common_options
from .options import redis_option, with_job_options


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="SPIDER.py|URL...")
@with_job_options
@click.option("--job", "name", required=True, help="The name of the job.")
@redis_option
@common_options
def start(
    what: tuple[str, ...],
    arguments: Sequence[str],
    assigned: Sequence[str],
    name: str,
    redis_url: str,
    shards: int | None,
    ttl: float | None,
    unsafe: bool,
) -> None:
    """Create a job, and return.

    Schedulers work on it with `crawler cluster join NAME`; the records go where `crawler cluster
    collect NAME` runs. The hosts of the job are divided into shards; a scheduler needs 4 or more.

    Example: crawler cluster start quotes.py --job quotes --redis redis://localhost:6379
    """
    from ....cluster.job_record import create_job
    from ...cluster_crawl import described, shape_of

    _, settings, about = described(what, arguments, assigned)
    from ....frontier import Fingerprint

    fingerprint = Fingerprint(settings.fingerprint)
    shape = shape_of(settings, shards, ttl)
    create_job(redis_url, name, about, **shape, fingerprint=fingerprint, unsafe=unsafe)
    # The spider of a job of URLs is our own: nobody has to name it.
    join = shlex.join(("join", name, *(what if about["source"] else ())))
    click.echo(f"crawler: the job {name!r} is ready: crawler cluster {join}", err=True)
