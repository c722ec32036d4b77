"""``crawler run SPIDER.py``: crawl with a spider of one's own."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..options import Ending, common_options, crawl_options, load_settings, load_spider


@click.command()
@click.argument("spider", metavar="SPIDER.py[:NAME]")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@crawl_options
@common_options
def run(spider: str, arguments: Sequence[str], assigned: Sequence[str], ending: Ending) -> None:
    """Crawl with the spider in a file.

    Items go to the files named by -o (appended) and -O (overwritten), in the format of
    their extension; without either, to stdout as JSON Lines. The state of the crawl is
    kept in crawls/SPIDER: the same command again goes on where it ended.

    Example: crawler run quotes.py -a tag=humor -O quotes.csv -s delay=0.5
    """
    from ..crawl_command import crawl_and_exit

    wanted = load_spider(spider, arguments)
    settings = load_settings(assigned, wanted)
    crawl_and_exit(wanted, settings, ending, name=wanted.name, records="-")
