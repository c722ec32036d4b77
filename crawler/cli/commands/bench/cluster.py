"""``crawler bench cluster``: what a cluster costs."""

from __future__ import annotations

from typing import Any

import click

from .options import count_option, exit_by_targets, print_and_save, run_options, show_progress


def _numbers(_context: click.Context, _parameter: click.Parameter, given: str) -> list[int]:
    try:
        numbers = [int(part) for part in given.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(f"{given!r} must be numbers of schedulers, such as 1,2")
    return numbers


@click.command()
@click.option(
    "--schedulers",
    default="1,2",
    show_default=True,
    callback=_numbers,
    help="The numbers of schedulers, one row for each.",
)
@count_option("--pages", 6000, "The pages of the site.")
@count_option("--repeats", 3, "How often each row is measured.")
@run_options
def cluster(
    schedulers: list[int], pages: int | None, repeats: int | None, quick: bool, **output: Any
) -> None:
    """Measure clusters of schedulers on this machine against one process with a job.

    Shows the CPU of a page for schedulers, collector and server, the commands of a page, and the
    memory of a URL in the server; how soon the schedulers end after the last commit, how soon the
    shards of a dead one are claimed, and what waiting takes. The exit code is 5 if a
    target is missed. Needs the extra cluster.

    Example: crawler bench cluster --schedulers 1,2
    """
    from ....bench import cluster as benchmark

    pages = pages or (600 if quick else 6000)
    report = benchmark.run(
        schedulers, pages, max(1, pages // 30), repeats or (1 if quick else 3), show_progress
    )
    print_and_save(report, benchmark.show(report), **output)
    exit_by_targets(report)
