"""The HTML of a response as a tree, which is parsed once and kept with the response."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from ..data import Response
from .html_limits import flatten

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

#: A tree takes up to 120 times as much memory as the body: that of a longer body is dropped early.
_LONG = 256 * 1024


def tree_of(response: Response) -> LexborHTMLParser:
    """Return the tree of *response*; like the text, it is kept with the response."""
    kept = vars(response)
    if "_tree" not in kept:
        kept["_tree"] = parse(flatten(response.text))
    return cast("LexborHTMLParser", kept["_tree"])


def is_long(response: Response) -> bool:
    """Return whether the tree of *response* is not kept longer than it is read."""
    return len(response.body) > _LONG


def forget_tree(response: Response) -> None:
    """Forget the tree and the text of *response*; both are made again when somebody needs them."""
    for made in ("_tree", "text"):
        vars(response).pop(made, None)


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
