"""``crawler shell URL``: look at a page by hand."""

from __future__ import annotations

import code
from collections.abc import Sequence

import click

from .fetch import fetch_page
from .options import common_options


@click.command()
@click.argument("url")
@common_options
def shell(url: str, assigned: Sequence[str]) -> None:
    """Fetch a page and open a Python prompt on it: try response.css("title::text").get()."""
    from ..spider import Page

    def fetch(address: str) -> Page:
        """Fetch another page; it becomes `response`."""
        names["response"] = page = Page.of(fetch_page(address, assigned))
        return page

    names: dict[str, object] = {"fetch": fetch}
    fetch(url)
    code.interact(
        banner=f"response is {names['response']}; fetch(url) gets another", local=names, exitmsg=""
    )
