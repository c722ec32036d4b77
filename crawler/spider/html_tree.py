"""The HTML of a response as a tree, which is parsed once and kept with the response."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from ..data import Response

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

#: Tags that nest deeper are left out; Chromium has the same limit.
_DEEPEST = 512
#: A page with at most so many tags, or so many characters, is parsed in 40 or 60 ms at worst,
#: however its tags nest. To count the tags of every page would cost 1/14 of the parser's time.
_FEW_TAGS, _FEW_CHARACTERS = 4000, 20_000
#: Elements that the parser closes by itself. They do not nest, so an open one adds no depth.
_SHALLOW = frozenset(
    (  # noqa: SIM905 - words read better as lines
        "a area base body br button col colgroup dd dt embed form head hr html iframe img input "
        "li link meta option p param script source style table tbody td textarea tfoot th thead "
        "title tr track wbr"
    ).split()
)
#: A tag with more attributes is cut: parsers compare each attribute with all before it.
_MOST_ATTRIBUTES = 1000
#: The lengths up to which a page, or a tag, needs no check: too short to take long.
_SHORT_PAGE = 32_000
_SHORT_TAG = 4 * _MOST_ATTRIBUTES
#: A tag without its end, or more: every quote that may open a value is taken to open one.
_EXTENT = re.compile(r"""<[a-zA-Z][^>=]*+(?:=\s*+(?:"[^"]*+"|'[^']*+')?+[^>=]*+)*+""")
_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?![>"'])[^\s>]++|))?+"""
#: Text that may look like a tag; or a tag with too many attributes, and the part of it to keep.
_WIDE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b.*?(?:</\1|\Z)"
    rf"|(?P<kept><[a-z][^\s/>]*+(?:{_ATTRIBUTE}){{{_MOST_ATTRIBUTES}}})(?:{_ATTRIBUTE})++",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/<>]*+)[^<>]*+>?")


def tree_of(response: Response) -> LexborHTMLParser:
    """Return the tree of *response*; like the text, it is kept with the response."""
    kept = vars(response)
    if "_tree" not in kept:
        kept["_tree"] = parse(_source(response))
    return cast("LexborHTMLParser", kept["_tree"])


def parse(html: str | bytes) -> LexborHTMLParser:
    """Parse text, or bytes in UTF-8."""
    return _parser()(html)


@cache
def _parser() -> Callable[[str | bytes], LexborHTMLParser]:
    from selectolax.lexbor import (  # noqa: PLC0415 - a crawl may need no HTML
        LexborDocumentOptions,
        LexborHTMLParser,
    )

    # No code here needs the events of a tree that changes.
    return partial(LexborHTMLParser, options=int(LexborDocumentOptions.WO_EVENTS))


def _source(response: Response) -> str | bytes:
    """Return the body if it is short and ASCII, for the parser would encode the text again."""
    body = response.body
    if len(body) <= _FEW_CHARACTERS and body.isascii() and response.encoding == "utf-8":
        return body
    return flatten(response.text)


def flatten(html: str) -> str:
    """
    Return *html* without the tags that would nest deeper than browsers allow.

    At many tags the parser walks through all open elements: a megabyte of ``<div>`` would take
    minutes. The text between the tags stays, and so do all links.
    """
    html = narrow(html)
    if len(html) <= _FEW_CHARACTERS:
        return html
    return html if html.count("<") <= _FEW_TAGS else _TAG.sub(_Nesting().keep, html)


def narrow(html: str) -> str:
    """Return *html* with at most as many attributes in a tag as every parser reads quickly."""
    if len(html) <= _SHORT_PAGE or max(map(len, _EXTENT.findall(html)), default=0) <= _SHORT_TAG:
        return html
    return _WIDE.sub(lambda found: found["kept"] or found[0], html)


class _Nesting:
    """The depth at a tag, counted by name: never less than the true one, except in odd tables."""

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
