"""Options that several commands share, and the settings that they result in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .session import Session

if TYPE_CHECKING:
    from ..settings import Settings
    from ..spider import Spider

_SET = "Set a setting, such as delay=2; repeatable. `crawler settings` lists all."
#: The directory below which commands create job directories.
JOBS = "crawls"

F = TypeVar("F", bound=Callable[..., Any])


def common_options(command: F) -> F:
    """Add -s, -L and -v, the options of every command that fetches."""
    command = click.option(
        "-s", "--set", "assigned", multiple=True, metavar="NAME=VALUE", help=_SET
    )(command)
    return log_options(command)


def log_options(command: F) -> F:
    command = verbose_option(command)
    command = click.option(
        "--log-json",
        is_flag=True,
        is_eager=True,
        callback=_log_json,
        expose_value=False,
        help="Log JSON lines, with the request and its host.",
    )(command)
    return click.option(
        "-L",
        "--loglevel",
        default="WARNING",
        show_default=True,
        type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"], case_sensitive=False),
        callback=_set_up_log,
        expose_value=False,
        help="The lowest level to log on stderr.",
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
    # -v works before the name of the command and after it.
    context.ensure_object(Session).verbose |= verbose


@dataclass(frozen=True)
class CrawlOptions:
    """The options of every crawl: its job, its outputs, its quality gates and its report."""

    job: str | None
    fresh: bool
    yes: bool
    retry_failed: str | None
    as_json: bool
    append_to: Sequence[str]
    write_to: Sequence[str]
    warc: str | None
    conditions: Sequence[str]
    min_items: int | None
    report: Path | None
    #: The port of the live page; 0 chooses one, None serves no page.
    live: int | None


class _Port(click.IntRange):
    """A port, with the remedy if the next word was taken for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a port: put --live last, or write --live=0", param, ctx)


def _check_reasons(
    _context: click.Context, _parameter: click.Parameter, reasons: str | None
) -> str | None:
    if reasons and not re.fullmatch(r"[a-z0-9_,]+", reasons):
        raise click.UsageError(
            f"--retry-failed takes reasons such as timeout,http_500, not {reasons!r}: "
            "write it last to retry all that failed"
        )
    return reasons


_CRAWL_OPTIONS = (
    click.option(
        "--job",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="The job directory, with the state of the crawl.  [default: below ./crawls]",
    ),
    click.option("--fresh", is_flag=True, help="Start over instead of continuing the job."),
    click.option(
        "-y", "--yes", is_flag=True, help="Answer yes to the question that --fresh may ask."
    ),
    click.option(
        "--retry-failed",
        is_flag=False,
        flag_value="",
        metavar="[REASONS]",
        callback=_check_reasons,
        help="Fetch the failed pages of the job again, or those with these reasons, such as timeout,http_500.",
    ),
    click.option(
        "--live",
        is_flag=False,
        flag_value="0",
        type=_Port(0, 65535),
        metavar="[PORT]",
        help="Show the crawl on a web page of this machine, and print its URL; put it last.",
    ),
    click.option(
        "--analyzers",
        type=click.IntRange(0),
        metavar="N",
        help="Parse in N separate processes, for pages that take long to parse.",
    ),
    click.option(
        "-H",
        "--header",
        "header_lines",
        multiple=True,
        metavar="'NAME: VALUE'",
        help="Send a header field with every request, instead of the setting headers; repeatable.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the final summary as JSON."),
    click.option(
        "--warc",
        type=click.Path(dir_okay=False),
        help="Write every request and response to a web archive, for `crawler replay`.",
    ),
    click.option(
        "--report",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the summary to a .json file, or the gates to a JUnit .xml file.",
    ),
    click.option(
        "--min-items", type=click.IntRange(0), help="Exit with 5 if the crawl finds fewer items."
    ),
    click.option(
        "--fail-if",
        "conditions",
        multiple=True,
        metavar="CONDITION",
        help="Exit with 5 if the condition holds, such as 'failed>1%' or 'status:5xx>10%'; repeatable.",
    ),
    click.option(
        "-O",
        "--overwrite",
        "write_to",
        multiple=True,
        metavar="FILE",
        help="Write the items to FILE and replace its content; FILE:FORMAT names the format. "
        "FILE:fields=url,title chooses fields; items-%03d.csv:records=10000 (or :bytes=100MB) makes several files.",
    ),
    click.option(
        "-o",
        "--output",
        "append_to",
        multiple=True,
        metavar="FILE",
        help="Append the items to FILE.",
    ),
)


def with_crawl_options(command: F) -> F:
    """Add the options of every crawl; the command gets them as one *crawl_options*."""

    @wraps(command)
    def with_options(**given: Any) -> Any:
        analyzers = given.pop("analyzers")
        if analyzers is not None:
            given["assigned"] = (f"analyzers={analyzers}", *given["assigned"])
        lines = given.pop("header_lines")
        if lines:
            given["assigned"] = ("headers=" + "\n".join(lines), *given["assigned"])
        names = [field.name for field in fields(CrawlOptions)]
        options = CrawlOptions(**{name: given.pop(name) for name in names})
        return command(**given, crawl_options=options)

    decorated: Any = with_options
    for option in reversed(_CRAWL_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def pairs(assigned: Iterable[str], option: str) -> dict[str, str]:
    """Return a dict of words such as NAME=VALUE."""
    found = {}
    for word in assigned:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option} needs NAME=VALUE, not {word!r}")
        found[name.strip()] = value
    _keep_secret(found)
    return found


def _keep_secret(given: Mapping[str, str]) -> None:
    """Keep secret arguments and header fields out of the log."""
    context = click.get_current_context(silent=True)
    if context is None:
        return
    fields = (line.partition(":") for line in given.get("headers", "").splitlines())
    for name, value in [*given.items(), *((name, value) for name, _, value in fields)]:
        context.ensure_object(Session).keep_secret(name, value.strip())


def load_settings(
    assigned: Iterable[str], spider: Spider | None = None, **options: Any
) -> Settings:
    """Return the settings of the file, the spider, the environment and the command line."""
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


def _log_json(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    context.ensure_object(Session).logs_json |= wanted


def _set_up_log(context: click.Context, _parameter: click.Parameter, level: str) -> None:
    from .log import log_to_stderr

    log_to_stderr(level.upper(), context.ensure_object(Session))
