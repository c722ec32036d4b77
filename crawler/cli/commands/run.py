"""``crawler run SPIDER.py``: crawl with the user's spider."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..options import CrawlOptions, common_options, load_settings, with_crawl_options
from ..spider_file import job_name, load_spider, program_of


@click.command()
@click.argument("spider", metavar="SPIDER.py[:NAME]")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@click.option(
    "--schedulers",
    type=click.IntRange(1),
    metavar="N",
    help="Crawl with N scheduler processes on this machine: needs the extra cluster.",
)
@with_crawl_options
@common_options
def run(
    spider: str,
    arguments: Sequence[str],
    schedulers: int | None,
    assigned: Sequence[str],
    crawl_options: CrawlOptions,
) -> None:
    """Crawl with the spider in a file.

    The crawl writes the items to the files that -o (append) and -O (overwrite) name, in the format
    of the file extension; without -o and -O, to stdout as JSON Lines. It keeps its state in
    crawls/SPIDER, or in crawls/SPIDER-HASH for each other set of -a arguments. Run the same command again to continue an
    interrupted crawl.

    Example: crawler run quotes.py -a tag=humor -O quotes.csv -s delay=0.5
    """
    from ..crawl_command import crawl_and_exit

    if schedulers is not None:
        from ..cluster_run import run_here

        run_here(spider, arguments, assigned, crawl_options, schedulers)
    loaded = load_spider(spider, arguments)
    settings = load_settings(assigned, loaded)
    crawl_and_exit(
        loaded,
        settings,
        crawl_options,
        name=job_name(loaded.name, arguments),
        records="-",
        program=" ".join([program_of(loaded), *(f"-a {given}" for given in sorted(arguments))]),
    )
