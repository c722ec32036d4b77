"""The links of a page: HTML, sitemaps and news feeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache, partial
from itertools import chain, islice
from typing import TypeAlias

from ..data import Response
from .html_scan import SCANNED, Scan, scan_of
from .html_tree import HtmlTree, forget_tree, has_tree, is_long, parse, tree_of
from .link_elements import BLANKS, FOLLOWED, Wanted, attributes_of, hrefs
from .news_feed import news_links
from .nofollow import header_says_nofollow, page_says_nofollow
from .resolve_href import NOT_PAGES, HrefResolver, base_of
from .sitemap import GZIP, parse_sitemap
from .xml_records import root_name

Pattern: TypeAlias = "str | re.Pattern[str]"
Patterns: TypeAlias = "Pattern | Iterable[Pattern]"

_MARKUP = re.compile(r"text/html|application/xhtml\+xml", re.IGNORECASE)
_XML = re.compile(r"(?:text|application)/(?:[\w.-]+\+)?xml\b", re.IGNORECASE)
_SITEMAPS = frozenset({"urlset", "sitemapindex"})
_NEWS_FEEDS = frozenset({"rss", "rdf", "feed"})
#: How many links are resolved at a time.
_SOME = 256


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
    crawl is set to. Links of other schemes, such as ``mailto:``, are left out too. A crawl
    counts the links that are left out.

    Sitemaps, RSS and Atom have links too: pages, sitemaps and entries. An href that is not a
    valid URL is yielded as it was written: the frontier refuses and counts it.
    """
    if tags is None:
        tags = FOLLOWED
    wanted = attributes_of((tags,) if isinstance(tags, str) else tuple(tags))
    if css is not None:
        _check(css)
    obey = response.obeys_nofollow if nofollow is None else nofollow
    not_pages: list[str] = []
    found, left_out = _found(response, wanted, css, obey, not_pages)
    others: Iterable[str] = not_pages
    if allow != () or deny != ():
        is_wanted = _filter(allow, deny)
        found, left_out = filter(is_wanted, found), left_out and filter(is_wanted, left_out)
        others = filter(is_wanted, not_pages)
    if left_out is not None:
        response.left_out.append(left_out)
    response.not_pages.append(others)
    return found


def title(response: Response) -> str | None:
    """Return the text of the first ``title`` element, on one line."""
    if not is_html(response):
        return None
    text = _read(response).title
    return None if text is None else " ".join(text.split())


def base_url(response: Response) -> str:
    """Return the URL that the links of an HTML page are relative to: its ``base``, or its own."""
    return base_of(response.url, _read(response).base)


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
    response: Response, wanted: Wanted, css: str | None, nofollow: bool, not_pages: list[str]
) -> tuple[Iterator[str], Iterator[str] | None]:
    """
    Return the links, and those that say nofollow, if they are left out.

    When they are read, URLs that lead to no page are added to *not_pages*.
    """
    if nofollow and header_says_nofollow(response.headers):
        return iter(()), _found(response, wanted, css, False, not_pages)[0]
    kind = _kind(response)
    if kind == "html":
        return _in_html(response, wanted, css, nofollow, not_pages)
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


def _in_html(
    response: Response, wanted: Wanted, css: str | None, nofollow: bool, not_pages: list[str]
) -> tuple[Iterator[str], Iterator[str] | None]:
    is_scanned = css is None and wanted.keys() <= SCANNED
    page = _read(response) if is_scanned else tree_of(response)
    left_out: list[str] | None = [] if nofollow else None
    found: list[str] = []
    for elements in page.elements(wanted, css):
        found += hrefs(elements, wanted, left_out)
    if left_out is not None and page_says_nofollow(page.attributes("meta")):
        found, left_out = [], [*found, *left_out]
    resolver = HrefResolver(response, base_of(response.url, page.base))
    if is_long(response):
        forget_tree(response)
    urls = partial(_urls, resolver, not_pages)
    return urls(found), urls(left_out) if left_out else None


def _read(response: Response) -> Scan | HtmlTree:
    """Return what is known of the page: its tree only if that is there already, or needed."""
    return (None if has_tree(response) else scan_of(response)) or tree_of(response)


def _urls(resolver: HrefResolver, not_pages: list[str], written: list[str]) -> Iterator[str]:
    return chain.from_iterable(_resolved(resolver, not_pages, iter(written)))


def _resolved(
    resolver: HrefResolver, not_pages: list[str], written: Iterator[str]
) -> Iterator[list[str]]:
    """Yield lists of URLs: cheaper than one by one, and a long page does not block others."""
    known = resolver.known
    while some := list(islice(written, _SOME)):
        yield [
            url
            for href, simple in zip(some, resolver.simplified(some), strict=True)
            if (url := known[simple])
            or (url is None and (url := _page_url(resolver, not_pages, href, simple)))
        ]


def _page_url(resolver: HrefResolver, not_pages: list[str], href: str, simple: str) -> str:
    """
    Return the URL of *href*, which is not known; "" if it leads into this page.

    Or if it leads to no page: then it is added to *not_pages*.
    """
    if simple.startswith("?") and (url := resolver.with_query(simple)):
        return url
    bare = href.strip(BLANKS)
    url = bare if bare.startswith(NOT_PAGES) else resolver.parse(bare)
    if url.startswith(NOT_PAGES):
        not_pages.append(url)
        return ""
    return url


def _in_sitemap(response: Response) -> Iterator[str]:
    resolver = HrefResolver(response, response.url)
    return (resolver(entry.loc) for entry in parse_sitemap(response.body).entries)
