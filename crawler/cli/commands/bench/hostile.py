"""``crawler bench hostile``: what pages made to take long cost."""

from __future__ import annotations

from typing import Any

import click

from .options import count_option, exit_by_targets, print_and_save, run_options, show_progress


@click.command()
@count_option("--size", 1_000_000, "The size of a hostile page in bytes.")
@count_option("--pages", 150, "The number of ordinary pages to crawl.")
@count_option("--repeats", 3, "How often to crawl them.")
@run_options
def hostile(
    size: int | None, pages: int | None, repeats: int | None, quick: bool, **output: Any
) -> None:
    """Read pages made to take long, and crawl another host beside them.

    The exit code is 5 if a target is missed: a page takes more than half a second of CPU per
    megabyte, or the other host has less than nine tenths of its rate.

    Example: crawler bench hostile --quick
    """
    from ....bench import hostile as benchmark

    numbers = (
        size or (100_000 if quick else 1_000_000),
        pages or (40 if quick else 150),
        repeats or (1 if quick else 3),
    )
    report = benchmark.run(*numbers, show_progress)
    print_and_save(report, benchmark.show(report), **output)
    exit_by_targets(report)
