"""The HTML of a response as a tree: parsed once for everyone who asks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from ..data import Response

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

#: Chromium builds no deeper trees either.
_DEEPEST = 512
#: A page with fewer tags is parsed in no time, however they are nested; or with so few characters
#: (40 and 60 ms at worst): to count the tags of all pages would take a fourteenth of the parser's time.
_FEW_TAGS, _FEW_CHARACTERS = 4000, 20_000
#: Elements that end by themselves, and so do not nest: left open, they are no sign of depth.
_SHALLOW = frozenset(
    (  # noqa: SIM905 - words read better as lines
        "a area base body br button col colgroup dd dt embed form head hr html iframe img input "
        "li link meta option p param script source style table tbody td textarea tfoot th thead "
        "title tr track wbr"
    ).split()
)
#: A tag with more attributes is cut: parsers compare each with all before it.
_MOST_ATTRIBUTES = 1000
#: A page as short as this has no tag that would take long, nor has a tag itself.
_SHORT_PAGE = 32_000
_SHORT_TAG = 4 * _MOST_ATTRIBUTES
#: A tag without its end, or more than that: wherever a quote might open, it does.
_EXTENT = re.compile(r"""<[a-zA-Z][^>=]*+(?:=\s*+(?:"[^"]*+"|'[^']*+')?+[^>=]*+)*+""")
_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?![>"'])[^\s>]++|))?+"""
#: What is no tag, though it may look like one; or a tag that is too wide, and what of it to keep.
_WIDE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b.*?(?:</\1|\Z)"
    rf"|(?P<kept><[a-z][^\s/>]*+(?:{_ATTRIBUTE}){{{_MOST_ATTRIBUTES}}})(?:{_ATTRIBUTE})++",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)[^<>]*+>?")


def tree_of(response: Response) -> LexborHTMLParser:
    """Return the tree of *response*, kept with it as its text is."""
    kept = vars(response)
    if "_tree" not in kept:
        kept["_tree"] = parse(_source(response))
    return cast("LexborHTMLParser", kept["_tree"])


def parse(html: str | bytes) -> LexborHTMLParser:
    """Parse text, or UTF-8."""
    return _parser()(html)


@cache
def _parser() -> Callable[[str | bytes], LexborHTMLParser]:
    from selectolax.lexbor import (  # noqa: PLC0415 - a crawl may need no HTML
        LexborDocumentOptions,
        LexborHTMLParser,
    )

    # Nobody here listens to changes of a tree.
    return partial(LexborHTMLParser, options=int(LexborDocumentOptions.WO_EVENTS))


def _source(response: Response) -> str | bytes:
    """Return what to parse: ASCII as it came, which the parser would make of its text again."""
    body = response.body
    if len(body) <= _FEW_CHARACTERS and body.isascii() and response.encoding == "utf-8":
        return body
    return flatten(response.text)


def flatten(html: str) -> str:
    """
    Return *html* without the tags that would nest deeper than browsers do.

    The parser looks through all open elements at many a tag: a megabyte of ``<div>`` would
    keep it busy for minutes. What stands between the tags stays, and so do all links.
    """
    html = narrow(html)
    if len(html) <= _FEW_CHARACTERS:
        return html
    return html if html.count("<") <= _FEW_TAGS else _TAG.sub(_Nesting().keep, html)


def narrow(html: str) -> str:
    """Return *html* with no more attributes in a tag than any parser reads in no time."""
    if len(html) <= _SHORT_PAGE or max(map(len, _EXTENT.findall(html)), default=0) <= _SHORT_TAG:
        return html
    return _WIDE.sub(lambda found: found["kept"] or found[0], html)


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
