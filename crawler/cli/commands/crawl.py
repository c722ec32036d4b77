"""``crawler crawl URL…``: one record for every page below some URLs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ..options import Ending, common_options, crawl_options, load_settings


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--depth", help="How many links away from a start page.  [default: 1]")
@click.option("--domain", "domains", multiple=True, help="Another domain to accept; repeatable.")
@click.option("--concurrency", type=int, help="Requests at a time, in all.")
@click.option("--per-host", type=int, help="Requests at a time, to one host.")
@click.option("--delay", help="Seconds between two requests to one host.")
@click.option("--robots/--no-robots", default=None, help="Obey robots.txt (the default), or not.")
@click.option("--max-pages", type=int, help="Stop after this many pages.")
@crawl_options
@common_options
def crawl(urls: tuple[str, ...], assigned: Sequence[str], ending: Ending, **options: Any) -> None:
    """Crawl the pages below each URL and write one record for each.

    The domain of each URL is accepted; other domains are not, unless --domain names them.
    Records go to the files named by -o and -O, in the format of their extension; without
    either, to crawls/HOST/pages.jsonl. The state of the crawl is kept in crawls/HOST: the
    same command again goes on where it ended.

    Example: crawler crawl https://example.org --depth 2 -O pages.csv
    """
    from ...spider import Pages
    from ..crawl_command import crawl_and_exit

    options["domains"] = options["domains"] or None
    spider = Pages(start_urls=urls)
    settings = load_settings(assigned, spider, **options)
    crawl_and_exit(spider, settings, ending, name=_name_of(urls[0]), records="pages.jsonl")


def _name_of(url: str) -> str:
    from ...errors import InvalidURL
    from ...url import origin

    try:
        scheme, _, place = origin(url).partition("://")
    except InvalidURL:
        scheme = place = ""
    if scheme not in ("http", "https"):
        raise click.UsageError(
            f"{url!r} cannot be crawled: http:// or https:// and a host are needed"
        )
    return place
