"""What a page links to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from ..data import Response
from ..errors import InvalidURL
from ..url import resolve

_MARKUP = re.compile(r"text/html|application/xhtml\+xml", re.IGNORECASE)
#: Schemes that lead to no page; a link with one is not worth a refusal.
_NOT_PAGES = ("javascript:", "mailto:", "data:", "tel:", "about:", "blob:")


def is_html(response: Response) -> bool:
    """Go by the Content-Type; without one, a body that starts like markup is markup."""
    declared = response.headers.get("content-type", "")
    if declared:
        return _MARKUP.match(declared.strip()) is not None
    return response.body[:64].lstrip().startswith(b"<")


def links(response: Response) -> Iterator[str]:
    """Yield the absolute URLs that ``a`` and ``area`` elements lead to, in document order."""
    if not is_html(response):
        return
    tree = LexborHTMLParser(response.text)
    base = _base(tree, response.url)
    for element in tree.css("a[href], area[href]"):
        href = (element.attributes["href"] or "").strip()
        if href and not href.startswith("#") and not href.lower().startswith(_NOT_PAGES):
            try:
                yield resolve(base, href)
            except InvalidURL:
                yield href


def title(response: Response) -> str | None:
    """Return the text of the first ``title`` element, on one line."""
    if not is_html(response):
        return None
    element = LexborHTMLParser(response.text).css_first("title")
    return None if element is None else " ".join(element.text().split())


def _base(tree: LexborHTMLParser, url: str) -> str:
    element = tree.css_first("base[href]")
    if element is None:
        return url
    try:
        return resolve(url, element.attributes["href"] or "")
    except InvalidURL:
        return url
