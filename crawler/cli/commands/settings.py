"""``crawler settings``: every setting, its value, and the source of the value."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from ..options import common_options, json_option, load_settings


@click.command()
@click.argument("names", nargs=-1)
@click.option("--explain", is_flag=True, help="Show the source of each value.")
@json_option
@common_options
def settings(names: tuple[str, ...], explain: bool, as_json: bool, assigned: Sequence[str]) -> None:
    """Print the settings in force, all of them or the NAMES given.

    The settings of a spider are not shown: they override crawler.toml, and the environment and -s
    override them. The spider of `crawler crawl` sets depth to 1.

    Example: crawler settings delay per_host --explain
    """
    try:
        rows = load_settings(assigned).explain(*names)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps([row.to_dict() for row in rows]))
        return
    for row in rows:
        click.echo(str(row) if explain else f"{row.name} = {row.type.write(row.value)}")
