"""What is said when a command fails: one line, and a traceback for those who ask for one."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import click

from ..errors import CrawlerError
from .words import printable, printable_lines

#: What explains itself; of anything else, its type and place are told.
_PLAIN = (CrawlerError, OSError, ValueError)


def exit_code_of(error: BaseException, *, verbose: bool) -> int:
    """Tell about *error* on stderr; return the exit code that `crawler --help` has for it."""
    if isinstance(error, BrokenPipeError):
        _let_go_of_output()
        return 3
    # Whoever closed stderr is not told, but gets the exit code.
    with suppress(OSError):
        if verbose:
            trace = "".join(traceback.format_exception(error)).rstrip()
            click.echo(printable_lines(trace), err=True)
        click.echo(f"crawler: {_line(error)}", err=True)
    return _code(error)


def _code(error: BaseException) -> int:
    if isinstance(error, click.ClickException):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return 130
    return 2 if isinstance(error, ValueError) else 6


def _line(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "interrupted"
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "crawler"
        return f"{printable(error.format_message())} ({path} --help explains)"
    if isinstance(error, click.ClickException):
        return printable(error.format_message())
    if isinstance(error, _PLAIN):
        return printable(error)
    [*_, last] = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return f"{printable(f'{type(error).__name__}: {error}')} ({place}; -v shows the traceback)"


def _let_go_of_output() -> None:
    """Nobody reads it: let nothing complain of that at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
