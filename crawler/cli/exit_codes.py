"""What is said when a command fails: one line, and a traceback for those who ask for one."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import click

from ..errors import CrawlerError
from .text import printable, printable_lines

#: What explains itself; of anything else, its type and place are told.
_PLAIN = (CrawlerError, OSError, ValueError)
#: Where no spider of a user's own is: this package, the standard library, what was installed.
_FOREIGN = (
    Path(__file__).parents[1],
    Path(traceback.__file__).parent,
    Path(click.__file__).parents[1],
)


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
    told = str(error) if isinstance(error, _PLAIN) else f"{type(error).__name__}: {_said(error)}"
    place = _place(error)
    hint = f" ({place}; -v shows the traceback)" if place else ""
    return f"{printable(told)}{hint}"


def _said(error: BaseException) -> str:
    """Return what *error* says; where a SyntaxError is, is told as the place."""
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _place(error: BaseException) -> str:
    """
    Return file and line of the user's own code that failed.

    Where none of it took part, what explains itself needs no place; of anything else it is ours.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not _is_foreign(frame.filename)]
    if theirs or not isinstance(error, _PLAIN):
        last = (theirs or frames)[-1]
        return f"{Path(last.filename).name}, line {last.lineno}"
    return ""


def _is_foreign(filename: str) -> bool:
    """Return whether it belongs to the interpreter, to what was installed, or to this package."""
    return filename.startswith("<frozen ") or any(
        Path(filename).is_relative_to(place) for place in _FOREIGN
    )


def _let_go_of_output() -> None:
    """Nobody reads it: let nothing complain of that at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
