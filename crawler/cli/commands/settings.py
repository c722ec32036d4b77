"""``crawler settings``: every setting, its value, and where it came from."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from ..options import common_options, json_option, load_settings


@click.command()
@click.argument("names", nargs=-1)
@click.option("--explain", is_flag=True, help="Say where each value came from.")
@json_option
@common_options
def settings(names: tuple[str, ...], explain: bool, as_json: bool, assigned: Sequence[str]) -> None:
    """Print the settings in force here, all or those NAMED.

    A spider or a command may set its own, which are not shown: they count more than crawler.toml
    and less than the environment and -s. The spider of `crawler crawl` sets depth to 1.
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
