"""``crawler shell URL``: inspect a page at a Python prompt."""

from __future__ import annotations

import code
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ...report.text import printable
from ..browser_view import BrowserView
from ..one_page import fetch_page
from ..options import common_options

if TYPE_CHECKING:
    from ...spider import Page


@click.command()
@click.argument("url")
@common_options
def shell(url: str, assigned: Sequence[str]) -> None:
    """Fetch a page and open a Python prompt on it: that of IPython, if it is installed.

    Try response.css("title::text").get(), or list(response.links()); page is the same. view() shows
    it in a browser, as the crawler has it: without scripts. fetch(url) fetches another page.

    Example: crawler shell https://example.org
    """
    from ...spider import Page

    def fetch(address: str) -> Page:
        """Fetch another page and assign it to `response` and `page`."""
        names["response"] = names["page"] = page = Page.of(fetch_page(address, assigned))
        return page

    def view(page: Page | None = None) -> None:
        """Show `response`, or another page, in a browser."""
        show(page or names["response"])

    names: dict[str, Any] = {"fetch": fetch, "view": view}
    with closing(BrowserView()) as show:
        fetch(url)
        hint = f"response is {names['response']}; view() shows it, fetch(url) fetches another page"
        _interact(printable(hint), names)


def _interact(banner: str, names: dict[str, Any]) -> None:
    """Read Python from a terminal, by IPython if it is installed, or from standard input."""
    if sys.stdin.isatty() and find_spec("IPython") is not None:
        import IPython

        click.echo(banner, err=True)
        IPython.start_ipython(argv=["--no-banner"], user_ns=names)
    else:
        code.interact(banner=banner, local=names, exitmsg="")
