"""``crawler fetch URL`` and ``crawler links URL``: one page, without a crawl."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .options import common_options, load_settings

if TYPE_CHECKING:
    from ..data import Response


@click.command()
@click.argument("url")
@click.option("--headers", is_flag=True, help="Print the status and headers, not the body.")
@common_options
def fetch(url: str, headers: bool, assigned: Sequence[str]) -> None:
    """Fetch one page, as a crawl would, and print it."""
    response = fetch_page(url, assigned)
    if headers:
        click.echo(f"{response.status} {response.url}")
        for name, value in response.headers.fields:
            click.echo(f"{name}: {value}")
    else:
        sys.stdout.buffer.write(response.body)


@click.command()
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
@common_options
def links(url: str, as_json: bool, assigned: Sequence[str]) -> None:
    """Print what a page links to, one URL a line."""
    from ..spider import links as links_of

    found = list(links_of(fetch_page(url, assigned)))
    click.echo(json.dumps(found) if as_json else "\n".join(found))


def fetch_page(url: str, assigned: Sequence[str]) -> Response:
    """Follow redirects to the page itself; say in one line what went wrong."""
    from ..data import Request
    from ..errors import FetchError, InvalidURL
    from ..frontier.redirect import MAX_REDIRECTS, is_redirect, next_hop

    request = Request(url)
    with load_settings(assigned).fetch() as client:
        try:
            response = client(request)
            while is_redirect(response) and len(request.redirects) < MAX_REDIRECTS:
                request = next_hop(request, response)
                response = client(request)
        except (FetchError, InvalidURL) as error:
            raise click.ClickException(str(error)) from None
    return response
