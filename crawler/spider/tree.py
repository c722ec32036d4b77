"""The HTML of a response as a tree: parsed once for everyone who asks."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, cast

from ..data import Response

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

#: Chromium builds no deeper trees either.
_DEEPEST = 512
#: A page with fewer tags is parsed in no time, however they are nested.
_FEW_TAGS = 4000
#: Elements that end by themselves, and so do not nest: left open, they are no sign of depth.
_SHALLOW = frozenset(
    (  # noqa: SIM905 - words read better as lines
        "a area base body br button col colgroup dd dt embed form head hr html iframe img input "
        "li link meta option p param script source style table tbody td textarea tfoot th thead "
        "title tr track wbr"
    ).split()
)
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)[^<>]*+>?")


def tree_of(response: Response) -> LexborHTMLParser:
    """Return the tree of *response*, kept with it as its text is."""
    kept = vars(response)
    if "_tree" not in kept:
        kept["_tree"] = parse(flatten(response.text))
    return cast("LexborHTMLParser", kept["_tree"])


def parse(html: str) -> LexborHTMLParser:
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - a crawl may need no HTML

    return LexborHTMLParser(html)


def flatten(html: str) -> str:
    """
    Return *html* without the tags that would nest deeper than browsers do.

    The parser looks through all open elements at many a tag: a megabyte of ``<div>`` would
    keep it busy for minutes. What stands between the tags stays, and so do all links.
    """
    return html if html.count("<") <= _FEW_TAGS else _TAG.sub(_Nesting().keep, html)


class _Nesting:
    """How deep a page is at a tag, counted by name: never less than it is, but for odd tables."""

    def __init__(self) -> None:
        self.depth = 0
        self.open: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()

    def keep(self, tag: re.Match[str]) -> str:
        name = tag[2].lower()
        if name in _SHALLOW:
            return tag[0]
        return self._close(tag[0], name) if tag[1] else self._open(tag[0], name)

    def _open(self, tag: str, name: str) -> str:
        if self.depth >= _DEEPEST:
            self.dropped[name] += 1
            return ""
        self.depth += 1
        self.open[name] += 1
        return tag

    def _close(self, tag: str, name: str) -> str:
        if self.dropped[name]:
            self.dropped[name] -= 1
            return ""
        if not self.open[name]:
            return ""
        self.depth -= 1
        self.open[name] -= 1
        return tag
