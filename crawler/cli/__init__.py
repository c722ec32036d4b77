"""The command line: one file per command, no logic of its own."""

from __future__ import annotations

import click

from .. import __version__
from .components import components
from .crawl import crawl
from .demo import demo
from .fetch import fetch, links
from .replay import replay
from .run import run
from .settings import settings
from .shell import shell


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Crawl web sites, politely and completely.

    Exit codes: 0 every page was fetched; 1 some pages failed; 2 wrong usage;
    3 stopped before the end; 4 no first URL was admitted; 5 a quality gate was not met.
    """


@cli.command()
def version() -> None:
    """Print the version."""
    click.echo(__version__)


for command in (components, crawl, demo, fetch, links, replay, run, settings, shell):
    cli.add_command(command)

__all__ = ["cli"]
