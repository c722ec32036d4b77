"""The options that the commands of a cluster share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ...options import load_settings

F = TypeVar("F", bound=Callable[..., Any])


def redis_option(command: F) -> F:
    """Add --redis; the command gets the URL, which the setting redis may have instead."""
    return click.option(
        "--redis",
        "redis_url",
        metavar="URL",
        callback=_checked,
        help="The Redis or Valkey server, as redis://HOST:6379.  [default: the variable "
        "CRAWLER_REDIS, or the setting redis]",
    )(command)


def with_job_options(command: F) -> F:
    """Add the options of a new job."""
    for option in (
        click.option("--unsafe", is_flag=True, help="Take a server that may lose the job."),
        click.option(
            "--ttl",
            type=click.FloatRange(1.0, 600.0),
            help="Seconds after which the shards of a dead scheduler are claimed.  [default: the "
            "setting cluster.ttl]",
        ),
        click.option(
            "--shards",
            type=click.IntRange(1, 1024),
            help="The number of parts that hosts are divided into.  [default: the setting "
            "cluster.shards]",
        ),
        click.option(
            "-a",
            "arguments",
            multiple=True,
            metavar="NAME=VALUE",
            help="Give the spider an attribute.",
        ),
    ):
        command = option(command)
    return command


def feed_options(command: F) -> F:
    """Add -o, -O and --dir: where the records of a job go."""
    for option in (
        click.option(
            "--dir",
            "folder",
            type=click.Path(file_okay=False),
            help="The job directory, for `crawler why`, `urls` and `report`.  [default: below ./crawls]",
        ),
        click.option(
            "-O", "--overwrite", "write_to", multiple=True, metavar="FILE", help="Write to FILE."
        ),
        click.option(
            "-o", "--output", "append_to", multiple=True, metavar="FILE", help="Append to FILE."
        ),
    ):
        command = option(command)
    return command


def _checked(_context: click.Context, _parameter: click.Parameter, given: str | None) -> str:
    from ....cluster.redis import address

    try:
        return address(given, load_settings(()).cluster.redis)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
