"""``crawler replay ARCHIVE SPIDER.py``: a spider again, on what was kept, without a network."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..options import common_options, is_verbose, json_option, load_settings, load_spider

if TYPE_CHECKING:
    from ...feed import WarcSite


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
    those of a file: what is gone (-) and what is new (+), with --json as an object. Pages that
    failed, as those do that are not in the archive, are told of on stderr.
    """
    from ...compose import crawl
    from ...feed import WarcSite, as_record
    from ..live_view import Screen
    from ..report import print_errors

    wanted = load_spider(spider, arguments)
    offline = {"robots": False, "delay": 0, "retries": 1}
    settings = load_settings(assigned, wanted, **offline)
    with WarcSite(archive) as site:
        _check_whole(site)
        result = crawl(wanted, fetch=site, settings=settings)
    print_errors(Screen(soft_wrap=True, stderr=True), result.errors, verbose=is_verbose())
    items = [json.dumps(as_record(item), sort_keys=True, default=str) for item in result.items]
    if golden is None:
        for item in items:
            click.echo(item)
        sys.exit(result.exit_code)
    gone, new = _changes(golden.read_text().splitlines(), items)
    if as_json:
        told = {"gone": list(map(json.loads, gone)), "new": list(map(json.loads, new))}
        click.echo(json.dumps(told))
    else:
        lines = [f"- {item}" for item in gone] + [f"+ {item}" for item in new]
        click.echo("\n".join(lines) or "no difference")
    sys.exit(5 if gone or new else 0)


def _check_whole(site: WarcSite) -> None:
    """Raise FeedError for an archive in which pages would be missed for no fault of the spider."""
    from ...feed import FeedError

    if site.torn is not None:
        raise FeedError(
            f"{site.path} ends in the middle of a record, at byte {site.torn}, after {len(site)} "
            "answers: the same crawl again goes on with it, or put a whole copy back"
        )
    if not len(site):
        raise FeedError(f"{site.path} has no answers to replay: --warc of a crawl writes some")


def _changes(before: Iterable[str], after: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return what is gone and what is new, whatever the order of the items."""
    old = Counter(_sorted(json.loads(line)) for line in before if line.strip())
    new = Counter(after)
    return list((old - new).elements()), list((new - old).elements())


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
