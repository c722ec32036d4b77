"""``crawler list``: the spiders in the files of a directory."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ...report.text import printable
from ..options import json_option, verbose_option


@click.command()
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@json_option
@verbose_option
def list(directory: str, as_json: bool) -> None:  # noqa: A001 - the name of the command
    """List the spiders in the files of a directory and below it, as `crawler run` names them.

    The files are read, not run: a class counts as a spider if the name of one of its base classes
    ends in Spider, or is that of a spider above it. Directories that begin with a dot are left out.

    Example: crawler list spiders/
    """
    from ...spider.spider_files import spiders_below

    found = spiders_below(Path(directory))
    for place in found:
        click.echo(json.dumps({"spider": place}) if as_json else printable(place))
    if not found:
        click.echo(
            f"crawler: no spiders below {directory!r}; `crawler new spider` makes one", err=True
        )
