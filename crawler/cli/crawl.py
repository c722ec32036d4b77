"""``crawler crawl URL…``: one record for every page below some URLs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from .options import (
    archived,
    common_options,
    gate_options,
    gates_of,
    load_settings,
    open_feeds,
    output_options,
)


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--depth", help="How many links away from a start page.  [default: 1]")
@click.option("--domain", "domains", multiple=True, help="Another domain to accept; repeatable.")
@click.option("--concurrency", type=int, help="Requests at a time, in all.")
@click.option("--per-host", type=int, help="Requests at a time, to one host.")
@click.option("--delay", help="Seconds between two requests to one host.")
@click.option("--robots/--no-robots", default=None, help="Obey robots.txt (the default), or not.")
@click.option("--max-pages", type=int, help="Stop after this many pages.")
@click.option("--json", "as_json", is_flag=True, help="Print the final summary as JSON.")
@click.option(
    "--warc",
    type=click.Path(dir_okay=False),
    help="Keep every exchange in a web archive, for `crawler replay`.",
)
@gate_options
@output_options
@common_options
def crawl(
    urls: tuple[str, ...],
    as_json: bool,
    conditions: Sequence[str],
    min_items: int | None,
    report: Path | None,
    warc: str | None,
    append_to: Sequence[str],
    write_to: Sequence[str],
    assigned: Sequence[str],
    **options: Any,
) -> None:
    """Crawl the pages below each URL and write one record for each.

    The domain of each URL is accepted; other domains are not, unless --domain names them.
    Records go to the files named by -o and -O, in the format of their extension; without
    either, to crawls/HOST/pages.jsonl.

    Example: crawler crawl https://example.org --depth 2 -O pages.csv
    """
    from ..spider import Pages
    from .show import run_and_report

    options["domains"] = options["domains"] or None
    spider = Pages(start_urls=urls)
    settings = load_settings(assigned, spider, **options)
    gates = gates_of(conditions, min_items)
    with ExitStack() as stack:
        named = open_feeds(stack, append_to, write_to)
        feeds = named or open_feeds(stack, (), [_default_output(urls[0])])
        code = run_and_report(
            spider,
            feeds,
            as_json=as_json,
            gates=gates,
            report=report,
            settings=settings,
            **archived(stack, warc, settings),
        )
    sys.exit(code)


def _default_output(url: str) -> str:
    from ..errors import InvalidURL
    from ..url import host

    try:
        name = host(url).replace(":", "_")
    except InvalidURL:
        raise click.UsageError(
            f"{url!r} is not a URL: it starts with http:// or https://"
        ) from None
    return f"crawls/{name}/pages.jsonl"
