"""The links of a page: HTML, sitemaps and news feeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from ..data import Response
from ..errors import InvalidURL
from ..url import resolve
from .html_tree import forget_tree, is_long, parse, tree_of
from .news_feed import news_links
from .nofollow import header_says_nofollow, is_nofollow, page_says_nofollow
from .resolve_href import HrefResolver
from .sitemap import GZIP, parse_sitemap
from .xml_records import root_name

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

Pattern: TypeAlias = "str | re.Pattern[str]"
Patterns: TypeAlias = "Pattern | Iterable[Pattern]"
Attributes: TypeAlias = Mapping[str, tuple[str, ...]]

_LAZY = ("data-src", "data-lazy-src", "data-original", "data-srcset")
#: The attributes of each element that hold URLs, in the order in which they are yielded.
_ATTRIBUTES: Attributes = {
    "a": ("href",),
    "area": ("href",),
    "audio": ("src",),
    "embed": ("src",),
    "form": ("action",),
    "frame": ("src",),
    "iframe": ("src", "data-src"),
    "img": ("src", "srcset", *_LAZY),
    "link": ("href",),
    "meta": ("content",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset", *_LAZY),
    "track": ("src",),
    "video": ("src", "poster"),
}
_ANCHORS = frozenset({"a", "area"})
_FOLLOWED = ("a", "area", "frame", "iframe", "meta")
#: The content of a refresh: seconds, and the URL, maybe in quotes.
_REFRESH = re.compile(
    r"""\s*+(?:\d++[\d.]*+|\.[\d.]*+)(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+"""
    r"""(?:'([^']*+)|"([^"]*+)|(.*+))""",
    re.IGNORECASE | re.DOTALL,
)
#: Elements in which an empty URL means the page itself.
_MAY_BE_EMPTY = _ANCHORS | {"form"}

_MARKUP = re.compile(r"text/html|application/xhtml\+xml", re.IGNORECASE)
_XML = re.compile(r"(?:text|application)/(?:[\w.-]+\+)?xml\b", re.IGNORECASE)
_SITEMAPS = frozenset({"urlset", "sitemapindex"})
_NEWS_FEEDS = frozenset({"rss", "rdf", "feed"})
#: Schemes that never lead to a page: links with one are left out, and not counted as refused.
_NOT_PAGES = ("javascript:", "mailto:", "data:", "tel:", "sms:", "about:", "blob:")
#: How many links are resolved at a time.
_SOME = 256
_CANDIDATE = re.compile(r"[\s,]*+(\S*[^\s,])(?:\s[^,]*+)?")
#: What browsers strip from both ends of a URL: blanks and control characters.
_BLANKS = "".join(map(chr, range(33)))


def is_html(response: Response) -> bool:
    """Return whether the Content-Type is HTML; without one, whether the body starts like markup."""
    declared = response.headers.get("content-type", "")
    if declared:
        return _MARKUP.match(declared.strip()) is not None
    return response.body[:64].lstrip().startswith(b"<")


def is_xml(response: Response) -> bool:
    """Return whether the Content-Type is one of XML, other than that of XHTML."""
    declared = response.headers.get("content-type", "").strip()
    return _XML.match(declared) is not None and not is_html(response)


def is_news_feed(response: Response) -> bool:
    """Return whether the Content-Type is XML and the root element that of RSS or Atom."""
    return is_xml(response) and root_name(response.text) in _NEWS_FEEDS


def links(
    response: Response,
    *,
    tags: str | Collection[str] | None = None,
    allow: Patterns = (),
    deny: Patterns = (),
    css: str | None = None,
    nofollow: bool | None = None,
) -> Iterator[str]:
    """
    Yield the absolute URLs that *response* links to, in document order.

    *tags* are the elements to look at: by default anchors, frames, and the ``meta`` element that
    sends a browser to another page (``http-equiv=refresh``). *css* selects the regions of the page to look in.
    If *allow* is given, one of its patterns must be found somewhere in a URL; no pattern of
    *deny* may be. *nofollow* leaves out the links with ``rel=nofollow``, and all links if the
    robots meta element or the X-Robots-Tag header asks for that; by default, it does as the
    crawl is set to. A crawl counts the links that are left out.

    Sitemaps, RSS and Atom have links too: pages, sitemaps and entries. An href that is not a
    valid URL is yielded as it was written: the frontier refuses and counts it.
    """
    if tags is None:
        tags = _FOLLOWED if _may_have_frames(response.body) else ("a", "area")
    attributes = _attributes((tags,) if isinstance(tags, str) else tuple(tags))
    if css is not None:
        _check(css)
    obey = response.obeys_nofollow if nofollow is None else nofollow
    found, left_out = _found(response, attributes, css, obey)
    if allow != () or deny != ():
        wanted = _filter(allow, deny)
        found, left_out = filter(wanted, found), left_out and filter(wanted, left_out)
    if left_out is not None:
        response.left_out.append(left_out)
    return found


def title(response: Response) -> str | None:
    """Return the text of the first ``title`` element, on one line."""
    if not is_html(response):
        return None
    element = tree_of(response).css_first("title:not(svg *)")
    return None if element is None else " ".join(element.text().split())


def base_url(response: Response) -> str:
    """Return the URL that the links of an HTML page are relative to: its ``base``, or its own."""
    return _base(tree_of(response), response.url)


@lru_cache
def _attributes(tags: tuple[str, ...]) -> Attributes:
    try:
        return {tag: _ATTRIBUTES[tag] for tag in tags}
    except KeyError as unknown:
        known = ", ".join(_ATTRIBUTES)
        raise ValueError(f"{unknown} elements have no links; tags must be among {known}") from None


@lru_cache
def _check(css: str) -> None:
    from selectolax.lexbor import SelectolaxError  # noqa: PLC0415 - loaded late, as the parser is

    try:
        parse("").css(css)
    except SelectolaxError:
        raise ValueError(f"css must be a CSS selector, not {css!r}") from None


def _filter(allow: Patterns, deny: Patterns) -> Callable[[str], bool]:
    allowed, denied = _searches(allow), _searches(deny)
    return lambda url: (
        (not allowed or any(search(url) for search in allowed))
        and not any(search(url) for search in denied)
    )


def _searches(patterns: Patterns) -> list[Callable[[str], object]]:
    if isinstance(patterns, str | re.Pattern):
        patterns = (patterns,)
    return [re.compile(pattern).search for pattern in patterns]


def _found(
    response: Response, attributes: Attributes, css: str | None, nofollow: bool
) -> tuple[Iterator[str], Iterator[str] | None]:
    """Return the links, and those that are left out, if any are."""
    if nofollow and header_says_nofollow(response.headers):
        return iter(()), _found(response, attributes, css, nofollow=False)[0]
    kind = _kind(response)
    if kind == "html":
        return _in_tree(response, attributes, css, nofollow)
    if kind in _SITEMAPS:
        return _in_sitemap(response), None
    return news_links(response.text, response.url) if kind in _NEWS_FEEDS else iter(()), None


def _kind(response: Response) -> str:
    """Return "html", the name of the root element of XML, or "" for anything else."""
    declared = response.headers.get("content-type", "").strip()
    if _MARKUP.match(declared):
        return "html"
    if _XML.match(declared):
        return "urlset" if response.body.startswith(GZIP) else root_name(response.text)
    if declared or not is_html(response):
        return ""
    root = root_name(response.text)
    return root if root in _SITEMAPS | _NEWS_FEEDS else "html"


def _in_tree(
    response: Response, attributes: Attributes, css: str | None, nofollow: bool
) -> tuple[Iterator[str], Iterator[str] | None]:
    tree = tree_of(response)
    left_out: list[str] | None = [] if nofollow else None
    find = _anchors if attributes.keys() <= _ANCHORS else _hrefs
    hrefs = find(_elements(tree, attributes, css), attributes, left_out)
    if left_out is not None and page_says_nofollow(tree):
        hrefs, left_out = [], [*hrefs, *left_out]
    resolver = HrefResolver(response, _base(tree, response.url))
    if is_long(response):
        forget_tree(response)
    return _urls(resolver, hrefs), _urls(resolver, left_out) if left_out else None


def _urls(resolver: HrefResolver, hrefs: list[str]) -> Iterator[str]:
    return chain.from_iterable(_resolved(resolver, iter(hrefs)))


def _resolved(resolver: HrefResolver, hrefs: Iterator[str]) -> Iterator[list[str]]:
    """Yield lists of URLs: cheaper than one by one, and a long page does not block others."""
    known = resolver.known
    while some := list(islice(hrefs, _SOME)):
        yield [
            url for href in some if (url := known[href] or _page_url(resolver, href.strip(_BLANKS)))
        ]


def _page_url(resolver: HrefResolver, href: str) -> str:
    """Return the URL of *href*; "" if it leads into this page, or not to a page."""
    if href.startswith(("#", *_NOT_PAGES)):
        return ""
    url = resolver(href)
    return "" if url.startswith(_NOT_PAGES) else url


def _in_sitemap(response: Response) -> Iterator[str]:
    resolver = HrefResolver(response, response.url)
    return (resolver(entry.loc) for entry in parse_sitemap(response.body).entries)


def _elements(tree: LexborHTMLParser, tags: Collection[str], css: str | None) -> list[LexborNode]:
    """Return the elements in document order, each once, even if several regions contain it."""
    query = ", ".join(tags)
    if css is not None:
        inside = (element for region in tree.css(css) for element in region.css(query))
        return list({element.mem_id: element for element in inside}.values())
    # A selector costs more, and is needed only for elements of several names.
    named = [found for tag in tags if (found := tree.tags(tag))]
    if len(named) > 1:
        return tree.css(query)
    return named[0] if named else []


def _anchors(elements: list[LexborNode], _: object, left_out: list[str] | None) -> list[str]:
    """Do the same as _hrefs() in half the time, for the elements of nearly every call."""
    return [
        given["href"] or ""
        for element in elements
        if "href" in (given := element.attributes)
        and ("rel" not in given or not _is_left_out(given, left_out))
    ]


def _is_left_out(given: Mapping[str, str | None], left_out: list[str] | None) -> bool:
    """Return whether the anchor says nofollow; add it to *left_out* then."""
    if left_out is None or not is_nofollow(given["rel"]):
        return False
    left_out.append(given["href"] or "")
    return True


def _hrefs(
    elements: list[LexborNode], attributes: Attributes, left_out: list[str] | None
) -> list[str]:
    """Return the URLs as they are written; those that say nofollow go to *left_out* if given."""
    hrefs: list[str] = []
    for element in elements:
        given = element.attributes
        says_nofollow = left_out is not None and is_nofollow(given.get("rel"))
        found = left_out if left_out is not None and says_nofollow else hrefs
        tag = element.tag or ""
        for name in attributes[tag]:
            value = given.get(name) or ""
            if tag == "meta":
                value = _refresh(given)
            if name.endswith("srcset"):
                found += _candidates(value)
            elif value or (name in given and tag in _MAY_BE_EMPTY):
                found.append(value)
    return hrefs


def _may_have_frames(body: bytes) -> bool:
    """Return whether a page may have frames or a refresh: most have not, and are read faster."""
    text = body.lower()
    in_wide_characters = b"\0" in body[:64]
    return b"<iframe" in text or b"<frameset" in text or b"refresh" in text or in_wide_characters


def _refresh(given: Mapping[str, str | None]) -> str:
    """Return the URL that a ``meta`` element with these attributes leads to; "" if to none."""
    if (given.get("http-equiv") or "").strip().lower() != "refresh":
        return ""
    found = _REFRESH.match(given.get("content") or "")
    return "" if found is None else found[found.lastindex or 0].strip(_BLANKS)


def _candidates(srcset: str) -> list[str]:
    return _CANDIDATE.findall(srcset.rstrip(", \t\r\n\f"))


def _base(tree: LexborHTMLParser, url: str) -> str:
    """Return the first ``base`` with an href, as browsers do; *url* if it cannot be used."""
    if not tree.tags("base"):
        return url
    element = tree.css_first("base[href]:not(svg *, math *)")
    if element is None:
        return url
    try:
        base = resolve(url, element.attributes["href"] or "")
    except InvalidURL:
        return url
    return url if base.startswith(("data:", "javascript:")) else base
