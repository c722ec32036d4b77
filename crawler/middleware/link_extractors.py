"""Link extractors: requests for what a page or a feed links to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from re import Pattern
from typing import Any
from xml.parsers import expat

from selectolax.lexbor import LexborHTMLParser

from ..data import Request, Response
from ..errors import InvalidURL
from ..url import resolve
from .per_spider import PerSpider, compiled
from .spider import SpiderMiddleware

_HTML = ("text/html", "application/xhtml+xml")
_FEEDS = (
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/xml",
    "text/xml",
)
#: Bytes of a feed that are read before its first links are passed on.
_PIECE = 1 << 16


class RegexLinkExtractor(PerSpider[list[Pattern[str]]]):
    """
    Follows the links of HTML pages in which one of the patterns is found.

    The patterns, the spider's ``url_regexes_to_follow`` unless given, are searched for
    anywhere in the absolute URL. They are regular expressions: the "?" before a query is
    written ``\\?``.
    """

    def __init__(self, patterns: Collection[str] | None = None) -> None:
        super().__init__()
        self._patterns = patterns

    def make(self, spider: Any) -> list[Pattern[str]]:
        name = "url_regexes_to_follow"
        return compiled(name, self.told(self._patterns, name, spider))

    def process_response(
        self, response: Response, request: Request, spider: Any
    ) -> Iterator[Request]:
        patterns = self.of(spider)
        for url in html_links(response):
            if any(pattern.search(url) for pattern in patterns):
                yield Request(url)


class FeedLinkExtractor(SpiderMiddleware):
    """
    Follows the links of the items of RSS feeds and the entries of Atom feeds.

    A feed that declares entities is refused, for they may unfold into any size; of one that
    is broken, what stands before the break is followed.
    """

    def process_response(
        self, response: Response, request: Request, spider: Any
    ) -> Iterator[Request]:
        if media_type(response) in _FEEDS:
            for href in _Feed().links(response.text):
                yield Request(_absolute(response.url, href))


def html_links(response: Response) -> Iterator[str]:
    """Yield the absolute URLs that the ``a`` and ``area`` elements of an HTML page lead to."""
    if not is_html(response):
        return
    tree = LexborHTMLParser(response.text)
    base = tree.css_first("base[href]")
    above = response.url if base is None else _absolute(response.url, _href(base.attributes))
    for element in tree.css("a[href], area[href]"):
        href = _href(element.attributes)
        if href and not href.startswith("#"):
            yield _absolute(above, href)


def is_html(response: Response) -> bool:
    """Go by the Content-Type; without one, a body that starts like markup is markup."""
    declared = media_type(response)
    if declared:
        return declared in _HTML
    return response.body[:64].lstrip().startswith(b"<")


def media_type(response: Response) -> str:
    declared: str = response.headers.get("content-type", "")
    return declared.partition(";")[0].strip().lower()


class _NotAFeed(Exception):
    """The document is some other XML, or none."""


class _Feed:
    """Reads a feed piece by piece, as far as it can be read."""

    def __init__(self) -> None:
        parser = self._parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        # Many feeds have &nbsp; and the like, which XML does not know: they are passed over.
        parser.UseForeignDTD(True)
        parser.StartDoctypeDeclHandler = self._root
        parser.EntityDeclHandler = _refuse_entities
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        self._began = False
        self._entries = 0
        self._text: list[str] | None = None
        self._found: list[str] = []

    def links(self, text: str) -> Iterator[str]:
        body = text.encode("utf-8", "replace")
        for start in range(0, len(body) + 1, _PIECE):
            try:
                failure = self._read(body[start : start + _PIECE], start + _PIECE > len(body))
            except _NotAFeed:
                return
            yield from self._found
            self._found.clear()
            if failure is not None:
                raise failure

    def _read(self, piece: bytes, is_last: bool) -> ValueError | None:
        """Read on; return what makes the rest unreadable, if anything does."""
        try:
            self._parser.Parse(piece, is_last)
        except (expat.ExpatError, ValueError) as error:
            if not self._began:
                raise _NotAFeed from error
            return ValueError(f"the feed is broken: {error}")
        return None

    def _root(self, name: str, *_: Any) -> None:
        if _local(name) not in ("rss", "feed", "RDF"):
            raise _NotAFeed
        self._began = True

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._began:
            self._root(name)
        local = _local(name)
        if local in ("item", "entry"):
            self._entries += 1
        elif self._entries and local == "link":
            self._link(attributes)

    def _link(self, attributes: Mapping[str, str]) -> None:
        if "href" not in attributes:
            self._text = []
        elif attributes.get("rel", "alternate") == "alternate":
            self._add(attributes["href"])

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        local = _local(name)
        if local in ("item", "entry"):
            self._entries -= 1
        elif local == "link" and self._text is not None:
            self._add("".join(self._text))
            self._text = None

    def _add(self, href: str) -> None:
        if href.strip():
            self._found.append(href.strip())


def _refuse_entities(name: str, *_: Any) -> None:
    raise ValueError(f"it declares an entity, {name!r:.100}")


def _local(name: str) -> str:
    """Drop the prefix, which many feeds use without declaring it."""
    return name.rpartition(":")[2]


def _href(attributes: Mapping[str, str | None]) -> str:
    return (attributes.get("href") or "").strip()


def _absolute(base: str, href: str) -> str:
    """Resolve *href*; one that is no URL stays as it is, for the frontier to refuse and count."""
    try:
        return resolve(base, href)
    except InvalidURL:
        return href
