"""The HTML of a response as a tree, which is parsed once and kept with the response."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from ..data import Response
from .html_limits import flatten
from .link_elements import Attributes, Element
from .turns import in_parts

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

#: A tree takes up to 120 times as much memory as the body: that of a longer body is dropped early.
_LONG = 256 * 1024


class HtmlTree:
    """The elements of a page as a parser finds them."""

    def __init__(self, html: str) -> None:
        self.parser = parse(flatten(html))

    @property
    def title(self) -> str | None:
        element = self.parser.css_first("title:not(svg *)")
        return None if element is None else element.text()

    @property
    def base(self) -> str | None:
        """The href of the first ``base`` that has one."""
        if not self.parser.tags("base"):
            return None
        element = self.parser.css_first("base[href]:not(svg *, math *)")
        return None if element is None else element.attributes["href"] or ""

    def elements(self, tags: Collection[str], css: str | None) -> Iterator[list[Element]]:
        """Yield lists of the elements called *tags* in the regions that *css* selects, in order."""
        for part in in_parts(self._nodes(tags, css)):
            yield [(node.tag or "", node.attributes) for node in part]

    def attributes(self, tag: str) -> list[Attributes]:
        return [node.attributes for node in self.parser.tags(tag)]

    def _nodes(self, tags: Collection[str], css: str | None) -> list[LexborNode]:
        """Return each node once, even if several regions contain it."""
        query = ", ".join(tags)
        if css is not None:
            inside = (node for region in self.parser.css(css) for node in region.css(query))
            return list({node.mem_id: node for node in inside}.values())
        # A selector costs more, and is needed only for elements of several names.
        named = [found for tag in tags if (found := self.parser.tags(tag))]
        if len(named) > 1:
            return self.parser.css(query)
        return named[0] if named else []


def tree_of(response: Response) -> HtmlTree:
    """Return the tree of *response*; like the text, it is kept with the response."""
    kept = vars(response)
    if "_tree" not in kept:
        kept["_tree"] = HtmlTree(response.text)
    return cast("HtmlTree", kept["_tree"])


def has_tree(response: Response) -> bool:
    return "_tree" in vars(response)


def is_long(response: Response) -> bool:
    """Return whether the tree of *response* is not kept longer than it is read."""
    return len(response.body) > _LONG


def forget_tree(response: Response) -> None:
    """Forget what was read of *response*; it is read again when somebody needs it."""
    for made in ("_tree", "_scan", "text"):
        vars(response).pop(made, None)


def parse(html: str) -> LexborHTMLParser:
    return _parser()(html)


@cache
def _parser() -> Callable[[str], LexborHTMLParser]:
    from selectolax.lexbor import (  # noqa: PLC0415 - a crawl may need no HTML
        LexborDocumentOptions,
        LexborHTMLParser,
    )

    # No code here needs the events of a tree that changes.
    return partial(LexborHTMLParser, options=int(LexborDocumentOptions.WO_EVENTS))
