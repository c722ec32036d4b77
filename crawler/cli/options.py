"""Options that several commands share, and what they mean."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from contextlib import ExitStack

    from ..feed import Feed
    from ..settings import Settings
    from ..spider import Spider
    from .gates import Gate

F = TypeVar("F", bound=Callable[..., Any])


def common_options(command: F) -> F:
    """Add -s and -L, which every command that fetches has."""
    command = click.option(
        "-s", "--set", "assigned", multiple=True, metavar="NAME=VALUE", help="Set a setting."
    )(command)
    return click.option(
        "-L",
        "--loglevel",
        default="WARNING",
        show_default=True,
        type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"], case_sensitive=False),
        callback=_set_up_log,
        expose_value=False,
        help="What to log, on stderr.",
    )(command)


@dataclass(frozen=True)
class Ending:
    """Where a crawl's items and report go, and what they must be like."""

    as_json: bool
    append_to: Sequence[str]
    write_to: Sequence[str]
    warc: str | None
    conditions: Sequence[str]
    min_items: int | None
    report: Path | None


_ENDING = (
    click.option("--json", "as_json", is_flag=True, help="Print the final summary as JSON."),
    click.option(
        "--warc",
        type=click.Path(dir_okay=False),
        help="Keep every exchange in a web archive, for `crawler replay`.",
    ),
    click.option(
        "--report",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the summary to a .json file, or the gates to a JUnit .xml file.",
    ),
    click.option("--min-items", type=int, help="Exit with 5 if there are fewer items."),
    click.option(
        "--fail-if",
        "conditions",
        multiple=True,
        metavar="CONDITION",
        help="Exit with 5 if it holds, as in 'failed>1%'; repeatable.",
    ),
    click.option(
        "-O", "--overwrite", "write_to", multiple=True, metavar="FILE", help="Write items to FILE."
    ),
    click.option(
        "-o", "--output", "append_to", multiple=True, metavar="FILE", help="Append items to FILE."
    ),
)


def crawl_options(command: F) -> F:
    """Add what every crawl has, given to the command as one *ending*."""

    @wraps(command)
    def with_ending(**given: Any) -> Any:
        names = [field.name for field in fields(Ending)]
        ending = Ending(**{name: given.pop(name) for name in names})
        return command(**given, ending=ending)

    decorated: Any = with_ending
    for option in reversed(_ENDING):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def gates_of(conditions: Iterable[str], min_items: int | None) -> list[Gate]:
    from .gates import Gate

    try:
        gates = [Gate.parse(condition) for condition in conditions]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return gates if min_items is None else [*gates, Gate.at_least(min_items)]


def open_feeds(stack: ExitStack, append_to: Iterable[str], write_to: Iterable[str]) -> list[Feed]:
    """Open the feeds named by -o and -O; *stack* closes them."""
    from ..errors import CrawlerError
    from ..feed import open_feed

    named = [(name, True) for name in append_to] + [(name, False) for name in write_to]
    try:
        return [stack.enter_context(open_feed(name, append=append)) for name, append in named]
    except (ValueError, OSError, CrawlerError) as error:
        raise click.UsageError(str(error)) from None


def archived(stack: ExitStack, path: str | None, settings: Settings) -> dict[str, Any]:
    """Return a fetch that keeps what it gets in the archive at *path*, if there is to be one."""
    if path is None:
        return {}
    from ..feed import WarcWriter

    writer = stack.enter_context(WarcWriter(path))
    return {"fetch": writer.around(stack.enter_context(settings.fetch()))}


def pairs(assigned: Iterable[str], option: str) -> dict[str, str]:
    """Read NAME=VALUE words."""
    found = {}
    for word in assigned:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option} wants NAME=VALUE, not {word!r}")
        found[name.strip()] = value
    return found


def load_settings(
    assigned: Iterable[str], spider: Spider | None = None, **options: Any
) -> Settings:
    """Put the settings together: file, spider, environment, then the command line."""
    from ..crawl import settings_of
    from ..settings import Settings, find_toml

    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings.load(
            toml=find_toml(),
            spider=settings_of(spider) if spider is not None else {},
            environ=os.environ,
            overrides=given | pairs(assigned, "-s"),
        )
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from None


def load_spider(place: str, arguments: Iterable[str] = ()) -> Spider:
    """Return the spider of a file; FILE.py:Name chooses one of several."""
    name, _, wanted = place.partition(":")
    path = Path(name)
    if not path.is_file():
        raise click.UsageError(f"there is no file {name!r}")
    kinds = {kind.__name__: kind for kind in _spiders_in(path)}
    if wanted:
        kinds = {known: kind for known, kind in kinds.items() if known == wanted}
    if len(kinds) != 1:
        found = ", ".join(kinds) or "none"
        raise click.UsageError(f"{place} must lead to one Spider; found: {found}")
    return next(iter(kinds.values()))(**pairs(arguments, "-a"))


def _spiders_in(path: Path) -> list[type[Spider]]:
    from ..spider import Spider

    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Spider) and value.__module__ == path.stem
    ]


def _set_up_log(_context: click.Context, _parameter: click.Parameter, level: str) -> None:
    logging.basicConfig(
        level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
