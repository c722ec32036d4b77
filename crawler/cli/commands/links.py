"""``crawler links URL``: the links of one page."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from ...report.text import printable
from ..one_page import check_success, fetch_page
from ..options import common_options, json_option


@click.command()
@click.argument("url")
@json_option
@common_options
def links(url: str, as_json: bool, assigned: Sequence[str]) -> None:
    """Print the links of a page, one URL per line.

    The command follows redirects and does not read robots.txt. It exits with 1 if the status is
    not 2xx.

    Example: crawler links https://example.org
    """
    from ...spider import links as links_of

    response = fetch_page(url, assigned)
    found = list(links_of(response))
    for line in [json.dumps(found)] if as_json else map(printable, found):
        click.echo(line)
    check_success(response)
