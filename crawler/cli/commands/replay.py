"""``crawler replay ARCHIVE SPIDER.py``: run a spider on archived responses, without a network."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..._words import counted
from ..options import common_options, is_verbose, json_option, load_settings
from ..spider_file import load_spider
from ..standard_streams import printing_to_stderr, prints_to_stderr

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
    help="Compare the items with those in a .jsonl file; exit with 5 if they differ.",
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
    """Run a spider on a web archive that --warc wrote.

    The command prints the items, one JSON object per line. With --diff it prints how they differ
    from the items in a file instead: removed items (-) and new items (+), with --json as one
    object. It reports failed pages on stderr; a page that is not in the archive fails. Records
    that cannot be replayed are left out, and counted on stderr.

    Example: crawler replay pages.warc.gz quotes.py --diff quotes.jsonl
    """
    from ...compose import stream
    from ...feed import WarcSite, as_record
    from ...feed.warc.replay import MAX_BODY, OFFLINE
    from ..live_view import Screen
    from ..report import print_errors

    loaded = load_spider(spider, arguments)
    settings = load_settings(assigned, loaded, **OFFLINE)
    with WarcSite(archive, max_body=max(MAX_BODY, settings.limits.body)) as site:
        _check_whole(site)
        with prints_to_stderr():
            result = stream(loaded, fetch=site, settings=settings)
        found = map(as_record, printing_to_stderr(result))
        items = (json.dumps(item, sort_keys=True, default=str) for item in found)
        if golden is None:
            for item in items:
                click.echo(item)
            code = result.wait().exit_code
        else:
            code = 5 if _print_changes(golden, items, as_json=as_json) else 0
    print_errors(Screen(soft_wrap=True, stderr=True), result, verbose=is_verbose())
    sys.exit(code)


def _print_changes(golden: Path, items: Iterable[str], *, as_json: bool) -> bool:
    """Print how *items* differ from those in the file *golden*; return whether they do."""
    gone, new = _changes(golden.read_text().splitlines(), items)
    if as_json:
        changes = {"gone": list(map(json.loads, gone)), "new": list(map(json.loads, new))}
        click.echo(json.dumps(changes))
    else:
        lines = [f"- {item}" for item in gone] + [f"+ {item}" for item in new]
        click.echo("\n".join(lines) or "no difference")
    return bool(gone or new)


def _check_whole(site: WarcSite) -> None:
    """
    Tell which records of the archive are left out; raise FeedError if it is incomplete.

    Pages would be missing without a fault of the spider.
    """
    from ...feed import FeedError

    if site.left_out:
        reasons = ", ".join(f"{reason} {n}" for reason, n in site.left_out.most_common())
        number = counted(site.left_out.total(), "record", "was")
        click.echo(f"{site.path}: {number} left out, which cannot be replayed: {reasons}", err=True)
    if site.torn is not None:
        raise FeedError(
            f"{site.path} ends in the middle of a record, at byte {site.torn}, after {len(site)} "
            "responses: run the crawl again to complete it, or restore a complete copy"
        )
    if not len(site):
        raise FeedError(f"{site.path} has no responses to replay: crawl with --warc to write some")


def _changes(before: Iterable[str], after: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the removed and the new items; the order of the items does not matter."""
    old = Counter(_sorted(json.loads(line)) for line in before if line.strip())
    new = Counter(after)
    return list((old - new).elements()), list((new - old).elements())


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
