"""Options that several commands share, and what they mean."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .session import Session

if TYPE_CHECKING:
    from ..feed import Feed
    from ..job.directory import Job
    from ..report.gates import Gate
    from ..settings import Settings
    from ..spider import Spider

#: Where commands keep their jobs.
JOBS = "crawls"

F = TypeVar("F", bound=Callable[..., Any])


def common_options(command: F) -> F:
    """Add -s, -L and -v, which every command that fetches has."""
    command = click.option(
        "-s", "--set", "assigned", multiple=True, metavar="NAME=VALUE", help="Set a setting."
    )(command)
    return log_options(command)


def log_options(command: F) -> F:
    command = verbose_option(command)
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


def verbose_option(command: F) -> F:
    return click.option(
        "-v",
        "--verbose",
        is_flag=True,
        callback=_be_verbose,
        expose_value=False,
        help="Show the traceback of an error.",
    )(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def is_verbose() -> bool:
    return click.get_current_context().ensure_object(Session).verbose


def _be_verbose(context: click.Context, _parameter: click.Parameter, verbose: bool) -> None:
    # What is said before the command's name holds after it too.
    context.ensure_object(Session).verbose |= verbose


@dataclass(frozen=True)
class Ending:
    """Where a crawl's items and report go, and what they must be like."""

    job: str | None
    fresh: bool
    as_json: bool
    append_to: Sequence[str]
    write_to: Sequence[str]
    warc: str | None
    conditions: Sequence[str]
    min_items: int | None
    report: Path | None


_ENDING = (
    click.option(
        "--job",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Keep the state of the crawl here.  [default: below ./crawls]",
    ),
    click.option("--fresh", is_flag=True, help="Start over, and do not go on with the job."),
    click.option(
        "--analyzers",
        type=click.IntRange(0),
        metavar="N",
        help="Parse in N processes of their own, for pages that take long.",
    ),
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
    click.option(
        "--min-items", type=click.IntRange(0), help="Exit with 5 if there are fewer items."
    ),
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
        analyzers = given.pop("analyzers")
        if analyzers is not None:
            given["assigned"] = (f"analyzers={analyzers}", *given["assigned"])
        names = [field.name for field in fields(Ending)]
        ending = Ending(**{name: given.pop(name) for name in names})
        return command(**given, ending=ending)

    decorated: Any = with_ending
    for option in reversed(_ENDING):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def gates_of(conditions: Iterable[str], min_items: int | None) -> list[Gate]:
    from ..report.gates import Gate

    try:
        gates = [Gate.parse(condition) for condition in conditions]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return gates if min_items is None else [*gates, Gate.at_least(min_items)]


def open_job(ending: Ending, name: str) -> Job:
    """Open the directory that --job names, or the one of *name*; emptied if --fresh says so."""
    from ..job.directory import STATE, Job
    from ..job.view import directory_name

    path = Path(ending.job or Path(JOBS) / directory_name(name))
    if ending.fresh and (path / STATE).exists():
        if sys.stdin.isatty() and sys.stderr.isatty():
            click.confirm(f"Forget what {path} has, and start over?", abort=True, err=True)
        Job.clear(path)
    return Job(path)


def open_feeds(job: Job, ending: Ending, default: str) -> list[Feed]:
    """Open what -o and -O name, or else *default*; the job closes them."""
    from ..errors import CrawlerError

    named = [(name, True) for name in ending.append_to]
    named += [(name, False) for name in ending.write_to]
    files = [name for name, _ in named or [(default, False)] if name != "-"]
    job.check_outputs([*files, *([ending.warc] if ending.warc else [])])
    try:
        return [job.open_feed(name, append=append) for name, append in named or [(default, False)]]
    except (ValueError, OSError, CrawlerError) as error:
        raise click.UsageError(str(error)) from None


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
    from ..compose import settings_of
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


def _set_up_log(context: click.Context, _parameter: click.Parameter, level: str) -> None:
    from .log import log_to_stderr

    log_to_stderr(level.upper(), context.ensure_object(Session))
