"""``crawler components SPIDER.py``: the middlewares around a spider, in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from inspect import isfunction
from typing import TYPE_CHECKING, Any

import click

from ..options import common_options, json_option, load_settings
from ..spider_file import load_spider
from ..standard_streams import prints_to_stderr

if TYPE_CHECKING:
    from ...settings import Settings
    from ...spider import Spider


@click.command()
@click.argument("spider", metavar="SPIDER.py[:NAME]")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@click.option(
    "--pages",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Crawl N pages first, to count and time the hooks.",
)
@json_option
@common_options
def components(
    spider: str, arguments: Sequence[str], pages: int, as_json: bool, assigned: Sequence[str]
) -> None:
    """List the middlewares and pipelines around a spider, and time hooks.

    The order is the order in which requests and findings pass through them, the engine's
    side first; docs/components.md describes each. With --pages N the command crawls N pages and prints for each hook the number of
    calls, drops and failures, and the total time it took.

    Example: crawler components quotes.py --pages 100
    """
    loaded = load_spider(spider, arguments)
    settings = load_settings(assigned, loaded, **({"max_pages": pages} if pages else {}))
    rows = _components(loaded, settings)
    hooks = _timed_hooks(loaded, settings) if pages else []
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


def _components(spider: Spider, settings: Settings) -> list[dict[str, str]]:
    kinds = {
        "download middleware": map(_made, spider.download_middlewares),
        "spider middleware": map(_made, spider.middlewares),
        "spider": [spider],
        "item pipeline": [*settings.pipelines, *spider.pipelines],
    }
    return [
        {"kind": kind, "name": _name(component)}
        for kind, components in kinds.items()
        for component in components
    ]


def _made(middleware: Any) -> Any:
    """Return *middleware*, or what a function makes; a class is not made."""
    return middleware() if isfunction(middleware) else middleware


def _name(component: Any) -> str:
    """Return the name of a class or a function, or of the class of an object; a text is one."""
    if isinstance(component, str):
        return component
    name: str = getattr(component, "__name__", type(component).__name__)
    return name


def _timed_hooks(spider: Spider, settings: Settings) -> list[dict[str, Any]]:
    """Crawl to the end; return the figures of each hook that was called."""
    from ...compose import stream

    with prints_to_stderr():
        result = stream(spider, settings=settings)
        result.chain.timed = True
        figures = result.wait().chain.figures
    return [{"name": name, "hook": hook, **vars(row)} for (name, hook), row in figures.items()]
