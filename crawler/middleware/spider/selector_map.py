"""SelectorMap: makes an item of a page by selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...data import Request, Response
from ...spider.links import is_html
from .contract import SpiderMiddleware

if TYPE_CHECKING:
    from parsel import Selector

#: A selector, for its first match; or a list of one selector, for all its matches.
Wanted = str | Sequence[str]


class SelectorMap(SpiderMiddleware):
    """
    Makes one item of every HTML page: *fields* maps its fields to selectors.

        SelectorMap({"title": "h1", "price": "//b[@class='price']/text()", "tags": ["a.tag"]})

    A selector that starts with "/", "./" or "(" is XPath, any other is CSS. It gives its first
    match; in a list, all matches. The value of an element is its text, on one line. A field
    without a match is None; a page without any match gives no item. Wrong selectors are errors
    at the start.
    """

    def __init__(self, fields: Mapping[str, Wanted]) -> None:
        if not fields:
            raise ValueError("fields must map at least one field to a selector")
        self._fields = {name: _wanted(name, wanted) for name, wanted in fields.items()}

    def open_spider(self, spider: Any) -> None:
        self._item("<p>")

    def process_response(
        self, response: Response, request: Request, spider: Any
    ) -> dict[str, Any] | None:
        return self._item(response.text) if is_html(response) else None

    def _item(self, text: str) -> dict[str, Any] | None:
        from parsel import Selector  # noqa: PLC0415 - slow to import, needed by few

        page = Selector(text)
        item: dict[str, Any] = {}
        for name, (selector, wants_all) in self._fields.items():
            found = [_text(node) for node in _select(page, name, selector)]
            item[name] = found if wants_all else next(iter(found), None)
        return item if any(value not in (None, []) for value in item.values()) else None


def _wanted(name: str, wanted: Any) -> tuple[str, bool]:
    if isinstance(wanted, str):
        return wanted, False
    if isinstance(wanted, Sequence) and len(wanted) == 1 and isinstance(wanted[0], str):
        return wanted[0], True
    raise ValueError(f"{name}: a selector or a list of one is needed, not {wanted!r}")


def _select(page: Selector, name: str, selector: str) -> Sequence[Selector]:
    is_xpath = selector.startswith(("/", "./", "("))
    try:
        return page.xpath(selector) if is_xpath else page.css(selector)
    except Exception as error:
        raise ValueError(f"{name}: {selector!r} is not a selector: {error}") from error


def _text(node: Selector) -> str:
    """Return the text of an element, with blanks as a browser shows them; or the text selected."""
    if isinstance(node.root, str):
        return node.root
    return " ".join("".join(node.xpath(".//text()").getall()).split())
