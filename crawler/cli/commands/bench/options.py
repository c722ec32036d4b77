"""Options that several benchmarks share, and how a benchmark ends."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...options import json_option

if TYPE_CHECKING:
    from ....bench.measuring.report import Report

F = TypeVar("F", bound=Callable[..., Any])

hosts_option = click.option(
    "--hosts",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="The number of hosts that the pages are spread over.",
)
concurrency_option = click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=64,
    show_default=True,
    help="The maximum number of requests in flight.",
)


def count_option(name: str, usual: int, text: str) -> Callable[[F], F]:
    """Add an option whose default depends on --quick."""
    return click.option(name, type=click.IntRange(1), help=f"{text}  [default: {usual:,}]")


def run_options(command: F) -> F:
    """Add the options of every measurement."""
    command = history_option(_writable)(json_option(command))
    return click.option("--quick", is_flag=True, help="Small numbers: less than a minute.")(command)


def history_option(check: Callable[..., Path] | None = None) -> Callable[[F], F]:
    return click.option(
        "--history",
        type=click.Path(dir_okay=False, path_type=Path),
        default=_default_history,
        show_default="crawler/bench-history.jsonl in XDG_DATA_HOME",
        callback=check,
        help="The file with the results of all runs.",
    )


def _default_history() -> Path:
    from ....bench.measuring.history import default_path

    return default_path()


def _writable(_context: click.Context, _parameter: click.Parameter, path: Path) -> Path:
    """Raise a usage error before anything is measured if *path* cannot be written."""
    from ....bench.measuring.history import prepare

    try:
        prepare(path)
    except OSError as error:
        raise click.UsageError(_not_saved(error)) from None
    return path


def _not_saved(error: OSError) -> str:
    return f"the result cannot be saved: {error}; use --history to name another file"


def show_progress(line: str) -> None:
    """Show on a terminal what is being measured, in place if the terminal can do that."""
    if not sys.stderr.isatty():
        return
    if os.environ.get("TERM") != "dumb":
        click.echo(f"\r\033[K{line}", err=True, nl=False)
    elif line:
        click.echo(line, err=True)


def print_and_save(report: Report, text: str, *, history: Path, as_json: bool) -> None:
    """Print *report* as JSON or as *text*, then append it to *history*; raise its failures."""
    from ....bench.measuring.child import BenchError
    from ....bench.measuring.history import append

    show_progress("")
    click.echo(json.dumps(report.as_dict()) if as_json else text)
    failures = list(report.failures)
    try:
        append(history, report)
    except OSError as error:
        failures.append(_not_saved(error))
    if failures:
        raise BenchError("; ".join(failures))


def exit_by_targets(*reports: Report) -> None:
    """Exit with 5, as for a quality gate, if a target of *reports* was missed."""
    if not all(target.holds for report in reports for target in report.targets):
        sys.exit(5)
