"""The command line: one file per command, no logic of its own."""

from __future__ import annotations

import click

from .. import __version__
from .crawl import crawl
from .demo import demo


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Crawl web sites, politely and completely.

    Exit codes: 0 every page was fetched; 1 some pages failed; 2 wrong usage;
    3 stopped before the end; 4 no first URL was admitted.
    """


cli.add_command(crawl)
cli.add_command(demo)

__all__ = ["cli"]
