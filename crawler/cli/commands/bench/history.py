"""``crawler bench history``: the results of earlier runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ...options import json_option
from .options import history_option


@click.command()
@click.option("--last", type=click.IntRange(1), default=8, show_default=True, help="Runs to show.")
@history_option()
@json_option
def history(last: int, history: Path, as_json: bool) -> None:
    """Show the results of earlier runs, and how the last run differs from them.

    Only runs of the same size are compared. A change of less than a fifth counts as noise.

    Example: crawler bench history --last 3
    """
    from ....bench.measuring.history import show, trends

    found = trends(history)
    if as_json:
        click.echo(json.dumps([vars(trend) | {"change": trend.change} for trend in found]))
    else:
        click.echo(show(found, last) if found else "nothing has been measured yet")
