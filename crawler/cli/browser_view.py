"""A page as a browser shows it: from a temporary file, and without its scripts."""

from __future__ import annotations

import mimetypes
import os
import re
import tempfile
import webbrowser
from html import escape
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..spider import Page

#: Where something can be added without a change of how the page is shown.
_DOCTYPE = re.compile(r"\A\s*<!doctype[^>]*>", re.IGNORECASE)
#: Types that a browser shows, and that have no scripts; others are shown as text.
_SHOWN = ("image/", "audio/", "video/", "application/pdf", "application/json")


class BrowserView:
    """Shows pages; close() removes the files."""

    def __init__(self) -> None:
        self._paths: list[str] = []

    def __call__(self, page: Page) -> None:
        """
        Open *page* in a browser.

        Its scripts do not run, as in the crawler. The browser loads its pictures and styles by
        itself, by other rules than those of the crawler.
        """
        suffix, content = _file_of(page)
        file, path = tempfile.mkstemp(suffix, "crawler-")
        self._paths.append(path)
        with os.fdopen(file, "wb") as out:
            out.write(content)
        is_open = webbrowser.open(f"file://{path}")
        state = "opened" if is_open else "there is no browser to open"
        click.echo(
            f"{state} {path}: without scripts; the browser loads pictures and styles by itself, "
            "so the site can see that you look at the page",
            err=True,
        )

    def close(self) -> None:
        while self._paths:
            os.unlink(self._paths.pop())  # noqa: PTH108 - as it was made


def _file_of(page: Page) -> tuple[str, bytes]:
    """Return the suffix and the content of a file that a browser shows as it would show *page*."""
    from ..spider.links import is_html

    if is_html(page):
        # The mark at the start says that it is UTF-8, whatever the page says.
        return ".html", ("\ufeff" + _at_home(page.text, page.urljoin(""))).encode(
            "utf-8", "replace"
        )
    named = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_shown = named.startswith(_SHOWN) and "svg" not in named
    return (is_shown and mimetypes.guess_extension(named)) or ".txt", page.body


def _at_home(text: str, base: str) -> str:
    """Return an HTML *text* whose links lead where they would at *base*, and whose scripts do not run."""
    added = (
        "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; object-src 'none'\">"
        f'<base href="{escape(base)}">'
    )
    start = found.end() if (found := _DOCTYPE.match(text)) else 0
    return text[:start] + added + text[start:]
