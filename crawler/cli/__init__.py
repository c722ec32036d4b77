"""The command line: one file per command, no logic of its own."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from .. import __version__
from .options import json_option, verbose_option
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

#: For each command, the module it is in and what --help says of it.
COMMANDS = {
    "bench": ("bench", "Measure what a crawl and its parts cost, beside what else there is."),
    "components": ("components", "Print what stands around a spider, and time its hooks."),
    "crawl": ("crawl", "Crawl the pages below each URL and write one record for each."),
    "demo": ("demo", "Crawl a bundled site on this machine: no network is needed."),
    "fetch": ("fetch", "Fetch one page, as a crawl would, and print it."),
    "jobs": ("jobs", "List the jobs in a directory, and how far each has got."),
    "links": ("fetch", "Print what a page links to, one URL a line."),
    "replay": ("replay", "Run a spider on a web archive made with --warc."),
    "report": ("jobs", "Print the final report of a job again."),
    "run": ("run", "Crawl with the spider in a file."),
    "settings": ("settings", "Print the settings in force here, all or those NAMED."),
    "shell": ("shell", "Fetch a page and open a Python prompt on it."),
    "urls": ("jobs", "Print every URL a job has met, with its one outcome."),
    "why": ("why", "Tell the whole story of a URL."),
}


class Commands(click.Group):
    """Imports a command when it is asked for; --help needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = super().get_command(ctx, cmd_name)
        if known is not None or cmd_name not in COMMANDS:
            return known
        ctx.ensure_object(Session).prepare()
        module, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f".commands.{module}", __name__), cmd_name)
        self.add_command(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._told(name)) for name in self.list_commands(ctx)])

    def _told(self, name: str) -> str:
        return COMMANDS[name][1] if name in COMMANDS else self.commands[name].get_short_help_str()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Exit codes:
  0    the crawl came to its end, and no page failed
  1    some pages failed
  2    wrong usage
  3    stopped before the end: by Ctrl-C, or nobody read the output any more
  4    no first URL was admitted, or none was allowed
  5    a quality gate was not met
  6    an error ended the command: -v shows where
  7    a callback that never ends was left: the same command goes on
  130  stopped at once: by Ctrl-C, a second time""",
)
@click.version_option(__version__)
@verbose_option
def cli() -> None:
    """Crawl web sites, politely and completely."""


@cli.command()
@json_option
def version(as_json: bool) -> None:
    """Print the version."""
    click.echo(json.dumps({"version": __version__}) if as_json else __version__)


def main(prepare: Callable[[], None]) -> None:
    """Run the command line and exit; *prepare* is called before a command is imported."""
    session = Session(prepare)
    try:
        code = _run(session)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        from .exit_codes import exit_code_of

        code = exit_code_of(error, verbose=session.verbose)
    sys.exit(code)


def _run(session: Session) -> int:
    """Do what click's own main() does, but let every exception through."""
    if "_CRAWLER_COMPLETE" in os.environ:
        cli.main(prog_name="crawler")
    try:
        with cli.make_context("crawler", sys.argv[1:], obj=session) as context:
            cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


__all__ = ["COMMANDS", "cli", "main"]
