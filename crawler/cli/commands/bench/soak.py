"""``crawler bench soak``: whether a long crawl grows."""

from __future__ import annotations

from typing import Any

import click

from .options import exit_by_targets, print_and_save, run_options, show_progress


@click.command()
@click.option("--minutes", type=click.FloatRange(0.05), help="How long to crawl.  [default: 30]")
@run_options
def soak(minutes: float | None, quick: bool, **output: Any) -> None:
    """Crawl a site without end and with faults, and watch memory and descriptors.

    One page of ten has a fault: errors, resets, truncated and false replies, silence, redirects
    without end. After the first third of the time, memory and descriptors may not grow: the exit
    code is 5 if they do.

    Example: crawler bench soak --minutes 30
    """
    from ....bench import soak as benchmark

    seconds = 60 * (minutes or (0.3 if quick else 30))
    first = benchmark.FIRST_IF_QUICK if quick else benchmark.FIRST
    report = benchmark.run(
        seconds, every=min(5.0, seconds / 10), first=first, show_progress=show_progress
    )
    print_and_save(report, benchmark.show(report), **output)
    exit_by_targets(report)
