"""``crawler crawl URL…``: one record for every page below the given URLs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ..options import CrawlOptions, common_options, load_settings, with_crawl_options


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--depth", help="The maximum number of links from a start URL.  [default: 1]")
@click.option("--domain", "domains", multiple=True, help="Accept this domain too; repeatable.")
@click.option("--concurrency", type=int, help="The maximum number of requests in flight.")
@click.option("--per-host", type=int, help="The maximum number of requests in flight to one host.")
@click.option("--delay", help="Seconds between two requests to one host.")
@click.option(
    "--robots/--no-robots", default=None, help="Obey robots.txt (the default) or ignore it."
)
@click.option("--max-pages", type=int, help="Stop after this many pages.")
@with_crawl_options
@common_options
def crawl(
    urls: tuple[str, ...], assigned: Sequence[str], crawl_options: CrawlOptions, **options: Any
) -> None:
    """Crawl the pages below each URL and write one record per page.

    The crawl accepts the domain of each URL, and the domains that --domain names.
    It writes the records to the files that -o and -O name, in the format of the file extension;
    without -o and -O, to crawls/HOST/pages.jsonl. It keeps its state in crawls/HOST. Run the
    same command again to continue an interrupted crawl.

    Example: crawler crawl https://example.org --depth 2 -O pages.csv
    """
    from ...spider import PageSpider
    from ..crawl_command import crawl_and_exit

    options["domains"] = options["domains"] or None
    spider = PageSpider(start_urls=urls)
    settings = load_settings(assigned, spider, **options)
    crawl_and_exit(spider, settings, crawl_options, name=_name_of(urls[0]), records="pages.jsonl")


def _name_of(url: str) -> str:
    from ...errors import InvalidURL
    from ...url import origin

    try:
        scheme, _, place = origin(url).partition("://")
    except InvalidURL:
        scheme = place = ""
    if scheme not in ("http", "https"):
        spider = f"; `crawler run {url}.py` runs a spider" if url.isidentifier() else ""
        raise click.UsageError(
            f"cannot crawl {url!r}: a URL needs http:// or https:// and a host{spider}"
        )
    return place
