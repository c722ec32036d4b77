"""``crawler run SPIDER.py``: crawl with a spider of one's own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from .options import (
    archived,
    common_options,
    gate_options,
    gates_of,
    load_settings,
    load_spider,
    open_feeds,
    output_options,
)


@click.command()
@click.argument("spider", metavar="SPIDER.py[:NAME]")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@click.option("--json", "as_json", is_flag=True, help="Print the final summary as JSON.")
@click.option(
    "--warc",
    type=click.Path(dir_okay=False),
    help="Keep every exchange in a web archive, for `crawler replay`.",
)
@gate_options
@output_options
@common_options
def run(
    spider: str,
    arguments: Sequence[str],
    as_json: bool,
    conditions: Sequence[str],
    min_items: int | None,
    report: Path | None,
    warc: str | None,
    append_to: Sequence[str],
    write_to: Sequence[str],
    assigned: Sequence[str],
) -> None:
    """Crawl with the spider in a file.

    Items go to the files named by -o (appended) and -O (overwritten), in the format of
    their extension; without either, to stdout as JSON Lines.

    Example: crawler run quotes.py -a tag=humor -O quotes.csv -s delay=0.5
    """
    from .show import run_and_report

    wanted = load_spider(spider, arguments)
    settings = load_settings(assigned, wanted)
    gates = gates_of(conditions, min_items)
    with ExitStack() as stack:
        feeds = open_feeds(stack, append_to, write_to) or open_feeds(stack, ["-"], ())
        code = run_and_report(
            wanted,
            feeds,
            as_json=as_json,
            gates=gates,
            report=report,
            settings=settings,
            **archived(stack, warc, settings),
        )
    sys.exit(code)
