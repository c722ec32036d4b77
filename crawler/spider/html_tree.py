"""The HTML of a response as a tree, which is parsed once and kept with the response."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from ..data import Response
from .html_limits import flatten

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser


def tree_of(response: Response) -> LexborHTMLParser:
    """Return the tree of *response*; like the text, it is kept with the response."""
    kept = vars(response)
    if "_tree" not in kept:
        kept["_tree"] = parse(flatten(response.text))
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
