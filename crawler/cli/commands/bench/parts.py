"""``crawler bench fetch``, ``links``, ``pool``, ``frontier`` and ``analyzers``: the cost of parts."""

from __future__ import annotations

from typing import Any

import click

from .options import count_option, print_and_save, run_options, show_progress


@click.command()
@count_option("--requests", 10_000, "The number of pages to fetch.")
@count_option("--repeats", 5, "How often to fetch them.")
@run_options
def fetch(requests: int | None, repeats: int | None, quick: bool, **output: Any) -> None:
    """Fetch with libcurl alone, and with each layer that we add to it.

    Example: crawler bench fetch --quick
    """
    from ....bench.parts import fetch as benchmark

    numbers = (requests or (2000 if quick else 10_000), repeats or (1 if quick else 5))
    report = benchmark.run(*numbers, show_progress)
    print_and_save(report, benchmark.show(report), **output)


@click.command()
@count_option("--pages", 500, "The number of pages to parse.")
@count_option("--repeats", 5, "How often to parse them.")
@run_options
def links(pages: int | None, repeats: int | None, quick: bool, **output: Any) -> None:
    """Parse pages and extract their links, with our code and with other parsers.

    Example: crawler bench links --pages 200
    """
    from ....bench.parts import links as benchmark

    report = benchmark.run(pages or (100 if quick else 500), repeats or (3 if quick else 5))
    print_and_save(report, benchmark.show(report), **output)


@click.command()
@count_option("--number", 100_000, "The number of data to put and get.")
@count_option("--repeats", 5, "How often to do so.")
@run_options
def pool(number: int | None, repeats: int | None, quick: bool, **output: Any) -> None:
    """Put data into a pool and get them out again.

    Example: crawler bench pool --number 50000
    """
    from ....bench.parts import pool as benchmark

    report = benchmark.run(number or (20_000 if quick else 100_000), repeats or 5)
    print_and_save(report, benchmark.show(report), **output)


@click.command()
@count_option("--repeats", 3, "How often to measure each row.")
@click.option("--scale", type=float, help="Multiply all numbers by this, from 0.001 to 1.")
@run_options
def frontier(repeats: int | None, scale: float | None, quick: bool, **output: Any) -> None:
    """Admit, take and settle requests, from ten hosts to a hundred thousand.

    Example: crawler bench frontier --scale 0.1
    """
    from ....bench.parts import frontier as benchmark

    usual = 0.05 if quick else 1.0
    numbers = (usual if scale is None else scale, repeats or (1 if quick else 3))
    report = benchmark.run(*numbers, show_progress)
    print_and_save(report, benchmark.show(report), **output)


@click.command()
@count_option("--pages", 1000, "The number of pages of the site.")
@count_option("--repeats", 3, "How often to crawl it.")
@run_options
def analyzers(pages: int | None, repeats: int | None, quick: bool, **output: Any) -> None:
    """Parse large pages with XPath, in this process and in two analyzer processes.

    Example: crawler bench analyzers --pages 200
    """
    from ....bench.parts import analyzers as benchmark

    numbers = (pages or (100 if quick else 1000), repeats or (1 if quick else 3))
    report = benchmark.run(*numbers, show_progress)
    print_and_save(report, benchmark.show(report), **output)
