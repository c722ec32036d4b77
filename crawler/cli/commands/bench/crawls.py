"""``crawler bench crawl``, ``scale`` and ``profile``: the cost of whole crawls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from .options import (
    concurrency_option,
    count_option,
    exit_by_targets,
    print_and_save,
    run_options,
    show_progress,
)
from .sites import site_options

if TYPE_CHECKING:
    from ....bench.crawl import Contender
    from ....bench.sites.site import Site


@click.command()
@site_options
@count_option("--repeats", 3, "How often each contender crawls the site.")
@concurrency_option
@click.option(
    "--peers",
    metavar="NAMES",
    help="The other programs, or none.  [default: those of wget2,scrapy,crawlee that are installed]",
)
@run_options
def crawl(
    sites: Sequence[Site],
    repeats: int | None,
    concurrency: int,
    peers: str | None,
    quick: bool,
    **output: Any,
) -> None:
    """Crawl one site with our crawl, a bare loop, and other programs.

    The site is generated and like those of the web: pages of 5 to 200 kB with scripts, styles,
    nested elements and all kinds of links, sent with gzip. --docs crawls documentation of the
    system's packages instead, as far as it is installed, and --plain a site of short paragraphs.

    The bare loop is libcurl and an HTML parser without a framework. Our crawl runs as `crawler
    crawl` does: in a job directory, with a record per page and the default settings, except for
    the delay and the depth; then without rests between two requests to the host; then without
    job and records, and with as many requests in flight as the others. Scrapy and Crawlee need the extra `bench`. "Tuned" means for Scrapy: links by
    lxml, a set of seen URLs before a request is made, and log level INFO; for Crawlee: a set
    of seen URLs, and no session pool. Crawlee "as documented" enqueues all the links of a page.
    The exit code is 5 if a target is missed.

    Example: crawler bench crawl --quick --peers scrapy
    """
    from ....bench import crawl as benchmark

    others, notes = _others(peers)
    reports = []
    for site in sites:
        report = benchmark.run(
            site,
            concurrency=concurrency,
            repeats=repeats or (1 if quick else 3),
            others=others,
            notes=notes,
            show_progress=show_progress,
        )
        print_and_save(report, benchmark.show(report), **output)
        reports.append(report)
    exit_by_targets(*reports)


def _others(names: str | None) -> tuple[list[Contender], list[str]]:
    """Return the contenders that --peers names, and why others are left out."""
    from ....bench.crawl import PEERS, missing, peers

    if names is None:
        reasons = {name: missing(name) for name in PEERS}
        found = peers(name for name, reason in reasons.items() if not reason)
        return found, [f"left out: {reason}" for reason in reasons.values() if reason]
    try:
        return peers(name for name in names.replace(" ", "").split(",") if name != "none"), []
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@click.command()
@count_option("--repeats", 3, "How often to crawl each site, or to continue each job.")
@click.option(
    "--urls",
    type=click.IntRange(1000),
    help="Continue jobs that have met so many URLs instead, half of them waiting.",
)
@run_options
def scale(repeats: int | None, urls: int | None, quick: bool, **output: Any) -> None:
    """Crawl small and large sites, on one host and on many; show how CPU and memory grow.

    With --urls, the bench makes jobs of that size, without crawling, and continues them: 10 million
    URLs take a few minutes and 4 GB of disk. The exit code is 5 if a target is missed.

    Example: crawler bench scale --quick
    """
    from ....bench import large_job
    from ....bench import scale as benchmark

    if urls is not None:
        pages = 500 if quick else 5000
        report = large_job.run(urls, pages, repeats or 1, show_progress)
        print_and_save(report, large_job.show(report), **output)
        exit_by_targets(report)
        return
    sizes = benchmark.QUICK if quick else benchmark.SIZES
    report = benchmark.run(sizes, repeats or (1 if quick else 3), show_progress)
    print_and_save(report, benchmark.show(report), **output)
    exit_by_targets(report)


@click.command()
@site_options
@concurrency_option
@click.option("--rests/--no-rests", default=True, help="With or without rests of the host.")
@click.option(
    "--functions", type=click.IntRange(0), default=40, show_default=True, help="Functions to show."
)
@run_options
def profile(
    sites: Sequence[Site],
    concurrency: int,
    rests: bool,
    functions: int,
    quick: bool,  # noqa: ARG001 - it has chosen the site
    **output: Any,
) -> None:
    """Crawl a site as `crawler crawl` does and show where the CPU time goes, by stage and by function.

    Example: crawler bench profile --pages 5000 --functions 20
    """
    from ....bench import profile as benchmark

    for site in sites:
        report = benchmark.run(site, concurrency=concurrency, rests=rests)
        print_and_save(report, benchmark.show(report, functions), **output)
