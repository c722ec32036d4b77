"""``crawler components SPIDER.py``: what stands around a spider, in order."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from ..options import common_options, json_option, load_settings, load_spider


@click.command()
@click.argument("spider", metavar="SPIDER.py[:NAME]")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@click.option(
    "--pages",
    type=click.IntRange(0),
    default=0,
    help="Crawl this many pages first, to count and time the hooks.",
)
@json_option
@common_options
def components(
    spider: str, arguments: Sequence[str], pages: int, as_json: bool, assigned: Sequence[str]
) -> None:
    """Print what stands around a spider, and time its hooks.

    The order is that in which a request and what is found pass through, engine side first.
    With --pages N it crawls N pages, and prints for each hook how often it was called, how
    much it dropped, how often it failed, and the time it took in all.
    """
    from ...compose import stream

    wanted = load_spider(spider, arguments)
    rows = [
        {"kind": kind, "name": getattr(one, "__name__", type(one).__name__)}
        for kind, all_of_kind in (
            ("download middleware", wanted.download_middlewares),
            ("spider middleware", wanted.middlewares),
            ("spider", [wanted]),
        )
        for one in all_of_kind
    ]
    hooks = []
    if pages:
        settings = load_settings(assigned, wanted, max_pages=pages)
        result = stream(wanted, settings=settings)
        result.chain.timed = True
        chain = result.wait().chain
        hooks = [
            {"name": name, "hook": hook, **vars(figures)}
            for (name, hook), figures in chain.figures.items()
        ]
    if as_json:
        click.echo(json.dumps({"components": rows, "hooks": hooks}))
        return
    for row in rows:
        click.echo(f"{row['kind']:<20} {row['name']}")
    for hook in hooks:
        click.echo(
            f"{hook['name']}.{hook['hook']}: {hook['calls']} calls, {hook['drops']} drops, "
            f"{hook['failures']} failures, {hook['seconds'] * 1000:.1f} ms"
        )
