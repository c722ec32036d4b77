"""``crawler replay ARCHIVE SPIDER.py``: a spider again, on what was kept, without a network."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from .options import common_options, json_option, load_settings, load_spider


@click.command()
@click.argument("archive", type=click.Path(exists=True, dir_okay=False))
@click.argument("spider", metavar="SPIDER.py[:NAME]")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@click.option(
    "--diff",
    "golden",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare the items with those of a .jsonl file; exit with 5 if they differ.",
)
@json_option
@common_options
def replay(
    archive: str,
    spider: str,
    arguments: Sequence[str],
    golden: Path | None,
    as_json: bool,
    assigned: Sequence[str],
) -> None:
    """Run a spider on a web archive made with --warc.

    Prints the items it finds, one JSON object a line, or with --diff how they differ from
    those of a file: what is gone (-) and what is new (+), with --json as an object.
    """
    from ..crawl import crawl
    from ..feed import WarcSite, as_record

    wanted = load_spider(spider, arguments)
    offline = {"robots": False, "delay": 0, "retries": 1}
    settings = load_settings(assigned, wanted, **offline)
    with WarcSite(archive) as site:
        result = crawl(wanted, fetch=site, settings=settings)
    items = [json.dumps(as_record(item), sort_keys=True, default=str) for item in result.items]
    if golden is None:
        click.echo("\n".join(items))
        sys.exit(result.exit_code)
    gone, new = _changes(golden.read_text().splitlines(), items)
    if as_json:
        told = {"gone": list(map(json.loads, gone)), "new": list(map(json.loads, new))}
        click.echo(json.dumps(told))
    else:
        lines = [f"- {item}" for item in gone] + [f"+ {item}" for item in new]
        click.echo("\n".join(lines) or "no difference")
    sys.exit(5 if gone or new else 0)


def _changes(before: Iterable[str], after: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return what is gone and what is new, whatever the order of the items."""
    old = Counter(_sorted(json.loads(line)) for line in before if line.strip())
    new = Counter(after)
    return list((old - new).elements()), list((new - old).elements())


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
