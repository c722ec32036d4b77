"""The command line: one file per command in commands/, without crawling logic of its own."""

from __future__ import annotations

import json
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

import click

from .. import __version__
from ..report.reasons import EXITS
from .options import json_option, verbose_option
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

#: The summary line of each command in --help. A command is in the module of its name.
COMMANDS = {
    "bench": "Measure the cost of a crawl and of its parts, next to alternatives.",
    "cluster": "Work on one job with many schedulers, through Redis.",
    "components": "List the middlewares and pipelines around a spider, and time hooks.",
    "crawl": "Crawl the pages below each URL and write one record per page.",
    "demo": "Crawl a bundled site on this machine, without a network.",
    "fetch": "Fetch one page as a crawl would, and print it.",
    "jobs": "List the jobs in a directory and the progress of each.",
    "links": "Print the links of a page, one URL per line.",
    "list": "List the spiders in the files of a directory.",
    "new": "Create the files of a spider, or of a project of several spiders.",
    "parse": "Print what a callback of a spider finds in one page, without a crawl.",
    "portal": "Run tasks by a timetable, and show their runs in a browser.",
    "replay": "Run a spider on a web archive that --warc wrote.",
    "report": "Print the final report of a job again.",
    "run": "Crawl with the spider in a file.",
    "settings": "Print the settings in force, all of them or the NAMES given.",
    "shell": "Fetch a page and open a Python prompt on it.",
    "task": "Run the tasks of a portal from a program or a terminal.",
    "urls": "Print every URL that a job has met, with its outcome.",
    "why": "Explain what happened to a URL, and why.",
}


#: What the commands of Scrapy, and others that people look for, are called here.
_OTHER_NAMES = {
    "check": "crawler parse",
    "genspider": "crawler new spider",
    "resume": "the same command again",
    "retry": "the same command with --retry-failed",
    "runspider": "crawler run",
    "startproject": "crawler new project",
    "view": "crawler shell",
}


class Commands(click.Group):
    """Imports a command only when it runs, so that --help imports none of them."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no such command: {args[0]!r}{self._instead_of(ctx, args[0])}")
        return super().resolve_command(ctx, args)

    def _instead_of(self, ctx: click.Context, name: str) -> str:
        if other := _OTHER_NAMES.get(name):
            return f"; here it is `{other}`" if other.startswith("crawler") else f"; run {other}"
        near = get_close_matches(name, self.list_commands(ctx), 1)
        return f"; did you mean {near[0]!r}?" if near else ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = super().get_command(ctx, cmd_name)
        if known is not None or cmd_name not in COMMANDS:
            return known
        ctx.ensure_object(Session).prepare()
        module = import_module(f".commands.{cmd_name}", __name__)
        command: click.Command = getattr(module, cmd_name)
        self.add_command(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(name)) for name in self.list_commands(ctx)])

    def _summary(self, name: str) -> str:
        return COMMANDS[name] if name in COMMANDS else self.commands[name].get_short_help_str()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExit codes:\n" + "\n".join(f"  {n:<4} {text}" for n, text in EXITS.items()),
)
@click.version_option(__version__)
@verbose_option
def cli() -> None:
    """Crawl web sites, politely and completely.

    Example: crawler crawl https://example.org --depth 2 -O pages.csv
    """


@cli.command()
@json_option
def version(as_json: bool) -> None:
    """Print the version.

    Example: crawler version --json
    """
    click.echo(json.dumps({"version": __version__}) if as_json else __version__)


def main(prepare: Callable[[], None]) -> None:
    """Run the command line and exit. *prepare* is called before a command is imported."""
    session = Session(prepare)
    try:
        code = _run(session)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        from .exit_codes import exit_code_of

        code = exit_code_of(error, verbose=session.verbose)
    sys.exit(code)


def _run(session: Session) -> int:
    """Do the same as click's own main(), but do not catch exceptions."""
    if "_CRAWLER_COMPLETE" in os.environ:
        cli.main(prog_name="crawler")
    try:
        with cli.make_context("crawler", sys.argv[1:], obj=session) as context:
            cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


__all__ = ["COMMANDS", "cli", "main"]
