"""``crawler shell URL``: inspect a page at a Python prompt."""

from __future__ import annotations

import code
from collections.abc import Sequence

import click

from ..one_page import fetch_page
from ..options import common_options
from ..text import printable


@click.command()
@click.argument("url")
@common_options
def shell(url: str, assigned: Sequence[str]) -> None:
    """Fetch a page and open a Python prompt on it.

    Try response.css("title::text").get(), or list(response.links()).

    Example: crawler shell https://example.org
    """
    from ...spider import Page

    def fetch(address: str) -> Page:
        """Fetch another page and assign it to `response`."""
        names["response"] = page = Page.of(fetch_page(address, assigned))
        return page

    names: dict[str, object] = {"fetch": fetch}
    fetch(url)
    banner = printable(f"response is {names['response']}; fetch(url) fetches another page")
    code.interact(banner=banner, local=names, exitmsg="")
