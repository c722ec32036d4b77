"""How a failed command ends: one line on stderr, a traceback with -v, and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import click

from ..errors import CrawlerError
from ..report.text import printable, printable_lines

#: Errors whose message is enough; other errors are printed with their type and place.
_PLAIN = (CrawlerError, OSError, ValueError)
#: Where the user's code is not: this package, the standard library, installed packages.
_FOREIGN = (
    Path(__file__).parents[1],
    Path(traceback.__file__).parent,
    Path(click.__file__).parents[1],
)


def exit_code_of(error: BaseException, *, verbose: bool) -> int:
    """Print *error* on stderr; return its exit code as listed in `crawler --help`."""
    if isinstance(error, BrokenPipeError):
        _discard_output()
        return 3
    # If stderr is closed, the exit code is all that is left.
    with suppress(OSError):
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            click.echo(error.format_message(), err=True)
            return _code(error)
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
        return f"{printable(error.format_message())}{_setting(error)} ({path} --help explains)"
    if isinstance(error, click.ClickException):
        return printable(error.format_message())
    plain = isinstance(error, _PLAIN)
    message = str(error) if plain else f"{type(error).__name__}: {_message(error)}"
    place = _place(error)
    hint = f" ({place}; -v shows the traceback)" if place else ""
    return f"{printable(message)}{hint}"


def _setting(error: click.UsageError) -> str:
    """Return how to set the setting that was given as an option; "" if there is none."""
    if not isinstance(error, click.NoSuchOption):
        return ""
    from ..settings.table import SETTINGS

    name = error.option_name.lstrip("-").replace("-", "_")
    return f" It is a setting: -s {name}=…" if name in {one.name for one in SETTINGS} else ""


def _message(error: BaseException) -> str:
    """Return the message of *error*; that of a SyntaxError without the place, which _place() has."""
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _place(error: BaseException) -> str:
    """
    Return the file and line of the user's code that failed.

    If no code of the user was running: "" for a plain error, else the place in our own code.
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
    """Return whether the file belongs to the interpreter, an installed package or this package."""
    return filename.startswith("<frozen ") or any(
        Path(filename).is_relative_to(place) for place in _FOREIGN
    )


def _discard_output() -> None:
    """Redirect stdout and stderr to nowhere, so that the interpreter's last flush does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
