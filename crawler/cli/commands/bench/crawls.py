"""``crawler bench crawl``, ``scale`` and ``profile``: the cost of whole crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import (
    concurrency_option,
    count_option,
    hosts_option,
    print_and_save,
    run_options,
    show_progress,
)

if TYPE_CHECKING:
    from ....bench.sites.shape import Shape


@click.command()
@count_option("--pages", 20_000, "The number of pages of the site.")
@count_option("--repeats", 3, "How often each contender crawls the site.")
@click.option(
    "--size", type=click.IntRange(1), default=13_000, show_default=True, help="Bytes per page."
)
@click.option(
    "--links", type=int, default=71, show_default=True, help="Links per page, at least 31."
)
@hosts_option
@concurrency_option
@click.option("--peers", default="", metavar="NAMES", help="Also measure these: scrapy,crawlee.")
@run_options
def crawl(
    pages: int | None,
    repeats: int | None,
    size: int,
    links: int,
    hosts: int,
    concurrency: int,
    peers: str,
    quick: bool,
    **output: Any,
) -> None:
    """Crawl one site with our crawl, a bare loop, and other frameworks.

    The bare loop is libcurl and an HTML parser without a framework: no crawl can cost less.
    Other frameworks need the extra `bench`. "Tuned" means for Scrapy: links by
    lxml, a set of seen URLs before a request is made, and log level INFO; for Crawlee: a set
    of seen URLs, and no session pool. Crawlee "as documented" enqueues all the links of a page.

    Example: crawler bench crawl --quick --peers scrapy
    """
    from ....bench import crawl as benchmark

    number = pages or (2000 if quick else 20_000)
    try:
        others = benchmark.peers(name.strip() for name in peers.split(",") if name.strip())
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    report = benchmark.run(
        _shape(number, size=size, links=links, hosts=hosts),
        concurrency=concurrency,
        repeats=repeats or (1 if quick else 3),
        others=others,
        show_progress=show_progress,
    )
    print_and_save(report, benchmark.show(report), **output)


@click.command()
@count_option("--repeats", 3, "How often to crawl each site.")
@run_options
def scale(repeats: int | None, quick: bool, **output: Any) -> None:
    """Crawl small and large sites, on one host and on many; show how CPU and memory grow.

    Example: crawler bench scale --quick
    """
    from ....bench import scale as benchmark

    sizes = benchmark.QUICK if quick else benchmark.SIZES
    report = benchmark.run(sizes, repeats or (1 if quick else 3), show_progress)
    print_and_save(report, benchmark.show(report), **output)


@click.command()
@count_option("--pages", 20_000, "The number of pages of the site.")
@hosts_option
@concurrency_option
@click.option(
    "--functions", type=click.IntRange(0), default=40, show_default=True, help="Functions to show."
)
@run_options
def profile(
    pages: int | None, hosts: int, concurrency: int, functions: int, quick: bool, **output: Any
) -> None:
    """Crawl a site and show where the CPU time goes, by stage and by function.

    Example: crawler bench profile --pages 5000 --functions 20
    """
    from ....bench import profile as benchmark

    shape = _shape(pages or (2000 if quick else 20_000), hosts=hosts)
    report = benchmark.run(shape, concurrency=concurrency)
    print_and_save(report, benchmark.show(report, functions), **output)


def _shape(pages: int, *, hosts: int, **sizes: int) -> Shape:
    from ....bench.sites.shape import Shape

    try:
        return Shape(pages, hosts=hosts, absolute=hosts > 1, **sizes)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
