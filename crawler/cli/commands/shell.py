"""``crawler shell URL``: look at a page by hand."""

from __future__ import annotations

import code
from collections.abc import Sequence

import click

from ..options import common_options
from ..text import printable
from .fetch import fetch_page


@click.command()
@click.argument("url")
@common_options
def shell(url: str, assigned: Sequence[str]) -> None:
    """Fetch a page and open a Python prompt on it.

    Try response.css("title::text").get(), or list(response.links()).
    """
    from ...spider import Page

    def fetch(address: str) -> Page:
        """Fetch another page; it becomes `response`."""
        names["response"] = page = Page.of(fetch_page(address, assigned))
        return page

    names: dict[str, object] = {"fetch": fetch}
    fetch(url)
    banner = printable(f"response is {names['response']}; fetch(url) gets another")
    code.interact(banner=banner, local=names, exitmsg="")
