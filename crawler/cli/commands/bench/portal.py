"""``crawler bench portal``: what a portal with many runs and open pages costs."""

from __future__ import annotations

from typing import Any

import click

from .options import count_option, exit_by_targets, print_and_save, run_options, show_progress


@click.command()
@count_option("--runs", 100_000, "The number of runs in the store.")
@count_option("--lines", 1_000_000, "The number of lines in a log.")
@count_option("--pages", 4_000, "The number of pages to crawl with and without a live page.")
@count_option("--repeats", 7, "How often to crawl them.")
@run_options
def portal(
    runs: int | None,
    lines: int | None,
    pages: int | None,
    repeats: int | None,
    quick: bool,
    **output: Any,
) -> None:
    """Ask for the pages of a portal with many runs, watch 200 of them, and crawl with a live page.

    The exit code is 5 if a target is missed: a page takes more than 100 ms, a search in the log
    more than 50 ms, 200 open pages more than a tenth of a core, or a live page more than 3 % of CPU.

    Example: crawler bench portal --quick
    """
    from ....bench import portal as benchmark

    numbers = (
        runs or (5_000 if quick else 100_000),
        lines or (20_000 if quick else 1_000_000),
        pages or (1_000 if quick else 4_000),
        repeats or (2 if quick else 7),
    )
    report = benchmark.run(*numbers, show_progress)
    print_and_save(report, benchmark.show(report), **output)
    exit_by_targets(report)
