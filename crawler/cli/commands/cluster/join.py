"""``crawler cluster join``: work on a job."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from ...options import common_options
from .options import redis_option


@click.command()
@click.argument("name")
@click.argument("what", nargs=-1, metavar="[SPIDER.py]")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@click.option(
    "--schedulers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="The number of scheduler processes.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False),
    help="Where it is noted which pages are under analysis.  [default: below ./crawls]",
)
@click.option(
    "--metrics",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve metrics for Prometheus on this port of 127.0.0.1; 0 is a free one.",
)
@redis_option
@common_options
def join(
    name: str,
    what: tuple[str, ...],
    arguments: Sequence[str],
    assigned: Sequence[str],
    schedulers: int,
    folder: str | None,
    metrics: int | None,
    redis_url: str,
) -> None:
    """Work on a job until it is finished.

    The code is that of this machine: a spider, a version or settings that differ from those of
    the job are refused. Settings such as concurrency and memory are this machine's own. Ctrl-C
    finishes the requests in flight and leaves the rest to the other schedulers. The exit code
    is 0 if the job is finished, 3 if it was left or stopped before. A page whose analysis has ended
    three schedulers is set aside: they must have been started with the same directory.

    Example: crawler cluster join quotes quotes.py --redis redis://localhost:6379 --schedulers 2
    """
    if schedulers == 1:
        from ...cluster_crawl import RESTART, join_and_work

        code = join_and_work(redis_url, name, what, arguments, assigned, folder, metrics)
        if code == RESTART:
            start_again()
        sys.exit(code)
    if metrics is not None:
        raise click.UsageError("--metrics is for one scheduler: start each with a port of its own")
    from ...cluster_processes import Schedulers, command_of

    command = command_of(name, what, arguments, assigned, folder)
    with Schedulers(command, schedulers, redis_url) as processes:
        sys.exit(processes.wait())


def start_again() -> NoReturn:
    """Replace this process by a new one with the same command line."""
    os.execv(sys.executable, [sys.executable, "-m", "crawler", *sys.argv[1:]])  # noqa: S606
