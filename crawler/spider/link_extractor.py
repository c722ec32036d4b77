"""LinkExtractor: which links of a page to follow, by patterns, domains, regions and file types."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from ..data import Response
from ..errors import InvalidURL
from ..headers import Headers
from ..url import host as hostname
from .links import Patterns, base_url, links
from .page import Page

#: File types that are hardly ever pages.
_FILE_TYPES = frozenset(
    (  # noqa: SIM905 - words read better as lines
        "7z 7zip bz2 rar tar gz xz zip cdr apk dmg iso jar exe bin msi "
        "mng pct bmp gif jpg jpeg png pst psp tif tiff ai drw dxf eps ps svg webp ico "
        "mp3 wma ogg wav ra aac mid au aiff 3gp asf asx avi mov mp4 mpg qt rm swf wmv m4a m4v flv webm "
        "xls xlsx ppt pptx pps doc docx odt ods odg odp css pdf rss js sh bat"
    ).split()
)

#: Arguments of Scrapy's class: the value that is always in force here, and what to write for others.
_FIXED: dict[str, tuple[Any, str]] = {
    "attrs": (("href",), "tags= names the elements, and each has its own attribute, as src of img"),
    "canonicalize": (False, "a crawl compares URLs in their canonical form"),
    "process_value": (None, "change the URLs in process_links of the rule"),
    "restrict_text": (None, "select the elements by restrict_xpaths"),
    "strip": (True, "spaces around a URL never count"),
    "unique": (True, "each link of a page is given once"),
}

_HTML = Headers({"Content-Type": "text/html; charset=utf-8"})


@dataclass(unsafe_hash=True)
class FoundLink:
    """A link of a page; *url* may be changed in process_links of a rule."""

    url: str


class LinkExtractor:
    """
    Extracts the links of a page that meet every condition given.

    *allow* and *deny* are regular expressions that are searched in the absolute URL.
    *allow_domains* and *deny_domains* include their subdomains. *restrict_css* and
    *restrict_xpaths* select the regions of the page to look in. *tags* are the elements to look
    at, *deny_extensions* the endings of paths to leave out: by default those of images, archives
    and the like. *nofollow* is that of links(). Other arguments of Scrapy's class may be given with
    its defaults.
    """

    def __init__(
        self,
        allow: Patterns = (),
        deny: Patterns = (),
        *,
        allow_domains: str | Collection[str] = (),
        deny_domains: str | Collection[str] = (),
        restrict_css: str | Collection[str] = (),
        restrict_xpaths: str | Collection[str] = (),
        tags: str | Collection[str] = ("a", "area"),
        deny_extensions: Collection[str] | None = None,
        nofollow: bool | None = None,
        **fixed: Any,
    ) -> None:
        for name, value in fixed.items():
            _check_fixed(name, value)
        self._allow, self._deny = _compiled(allow), _compiled(deny)
        self._allow_domains = _domains(allow_domains)
        self._deny_domains = _domains(deny_domains)
        self._css = ", ".join(_several(restrict_css)) or None
        self._xpaths = _several(restrict_xpaths)
        self._tags = tags
        types = _FILE_TYPES if deny_extensions is None else deny_extensions
        self._file_types = frozenset(one.lower().lstrip(".") for one in types)
        self._nofollow = nofollow

    def extract_links(self, response: Response) -> list[FoundLink]:
        """Return the links in their order on the page, each once."""
        return [FoundLink(url) for url in self.urls(response)]

    def urls(self, response: Response) -> Iterator[str]:
        """Yield the same as URLs, while the page is read."""
        seen: set[str] = set()
        for part in self._regions(Page.of(response)):
            found = links(part, tags=self._tags, css=self._css, nofollow=self._nofollow)
            for url in found:
                if url not in seen and self._wants(url):
                    seen.add(url)
                    yield url

    def _regions(self, page: Page) -> Iterator[Response]:
        """Yield the page, or a page of each region that an XPath selects."""
        if not self._xpaths:
            yield page
        for xpath in self._xpaths:
            for region in _outermost(page.xpath(xpath)):
                body = f'<base href="{escape(base_url(page))}">{region.get()}'
                yield page.replace(body=body.encode(), headers=_HTML)

    def _wants(self, url: str) -> bool:
        if self._allow and not any(pattern.search(url) for pattern in self._allow):
            return False
        if any(pattern.search(url) for pattern in self._deny):
            return False
        return self._wants_host(url) and _file_type(url) not in self._file_types

    def _wants_host(self, url: str) -> bool:
        if not (self._allow_domains or self._deny_domains):
            return True
        try:
            host = hostname(url)
        except InvalidURL:
            return not self._allow_domains
        if self._allow_domains and not _is_in(host, self._allow_domains):
            return False
        return not _is_in(host, self._deny_domains)


def _check_fixed(name: str, value: object) -> None:
    if name not in _FIXED:
        raise TypeError(f"LinkExtractor has no argument {name!r}")
    usual, instead = _FIXED[name]
    if value not in (usual, [*usual] if isinstance(usual, tuple) else usual):
        raise ValueError(f"LinkExtractor({name}={value!r:.200}) has no effect here: {instead}")


def _outermost(regions: Iterable[Any]) -> Iterator[Any]:
    """Yield *regions* but those inside of others: their links would be read once for each of them."""
    within: set[Any] = set()
    for region in regions:
        if hasattr(region.root, "iterancestors"):
            is_inside = any(element in within for element in region.root.iterancestors())
            within.add(region.root)
            if is_inside:
                continue
        yield region


def _compiled(patterns: Patterns) -> list[re.Pattern[str]]:
    given = (patterns,) if isinstance(patterns, str | re.Pattern) else patterns
    return [re.compile(pattern) for pattern in given]


def _several(given: str | Collection[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _domains(given: str | Collection[str]) -> frozenset[str]:
    return frozenset(name.lower().lstrip(".") for name in _several(given))


def _is_in(host: str, domains: frozenset[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _file_type(url: str) -> str:
    """Return what follows the last dot of the last part of the path, in lower case; or ""."""
    path = url.partition("#")[0].partition("?")[0]
    name = path[path.find("//") + 2 :].partition("/")[2].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""
