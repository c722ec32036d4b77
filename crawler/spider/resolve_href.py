"""From an href, as it is written in a page, to its absolute URL."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from urllib.parse import quote

from ..data import Response
from ..errors import InvalidURL
from ..url import resolve

# Hrefs that can be resolved by joining two strings: most hrefs of most pages. The URL parser gets
# the others, which a browser would change or read in a special way.
_PATH = r"(?:/(?!\.|%2[Ee])[A-Za-z0-9\-._~!$&'()*+,;=:@|\[\]%]*+)"
_REST = (
    r"(?:\?[A-Za-z0-9\-._~!$&()*+,;=:@|\[\]%/?]*+)?+"
    r"(?:\#[A-Za-z0-9\-._~!$&'()*+,;=:@|\[\]%/?]*+)?+\Z"
)
_HOST = r"(?:(?!xn--)[a-z0-9_-]++\.)*+(?!xn--)[a-z][a-z0-9_-]*+"
#: A port that browsers keep.
_PORT = r"(?::(?!(?:80|443)/)(?:[1-5][0-9]{4}|[1-9][0-9]{0,3}))?+"
_FROM_ROOT = re.compile(rf"(?!//){_PATH}++{_REST}")
_FROM_FOLDER = re.compile(rf"(?![.%])[A-Za-z0-9\-._~!$&'()*+,;=@|\[\]%]++{_PATH}*+{_REST}")
_WHOLE = re.compile(rf"https?://{_HOST}{_PORT}{_PATH}++{_REST}")
_HTTP = ("http://", "https://")
#: How many hrefs are kept per site, how many absolute URLs for all sites, and their length.
_MANY, _MANY_WHOLE, _LONG = 1024, 1 << 14, 256
_NOT_ASCII = re.compile(r"[^\0-\x7f]++")

#: Recent hrefs that are absolute URLs: they lead to the same page from every site.
_whole: dict[str, str] = {}


class HrefResolver:
    """
    Resolves the hrefs of one page against *base*.

    An href that is not a valid URL is returned unchanged: the frontier refuses and counts it.
    *known* maps simple hrefs to their URLs, and all others to "".
    """

    def __init__(self, response: Response, base: str) -> None:
        self._response = response
        self._base = base
        self.known = _known(_root(base) if base.startswith(_HTTP) else "")

    def __call__(self, href: str) -> str:
        if url := self.known[href]:
            return url
        if self.known.root and _FROM_FOLDER.match(href):
            return self._folder + href
        return self._parse(href)

    @cached_property
    def _folder(self) -> str:
        return _resolved(self._base, ".")

    def _parse(self, href: str) -> str:
        if not href.isascii() and not self._response.encoding.startswith("utf-"):
            href = _encode_query(href, self._response.encoding)
        return _resolved(self._base, href) or href


class _Known(dict[str, str]):
    """The URLs of the hrefs of one site by href: most of them are on every page of the site."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = root

    def __missing__(self, href: str) -> str:
        if url := _whole.get(href, ""):
            href = url  # one string for all sites, not one for each
        elif self.root and _FROM_ROOT.match(href):
            url = self.root + href[1:]
        elif _WHOLE.match(href):
            url = _keep(_whole, href, href, _MANY_WHOLE)
        return url and _keep(self, href, url, _MANY)


def _keep(known: dict[str, str], href: str, url: str, many: int) -> str:
    if len(known) == many:
        known.clear()
    if len(href) < _LONG:
        known[href] = url
    return url


@lru_cache(maxsize=128)
def _known(root: str) -> _Known:
    return _Known(root)


def _root(base: str) -> str:
    """Return the URL of "/" relative to *base*; the pages of a site share the result."""
    return _root_of(base[: base.find("/", len("https://")) + 1] or base)


@lru_cache(maxsize=1024)
def _root_of(base: str) -> str:
    return _resolved(base, "/")


def _resolved(base: str, href: str) -> str:
    """Return the absolute URL of *href*; "" if it is not valid."""
    try:
        return resolve(base, href)
    except InvalidURL:
        return ""


def _encode_query(href: str, encoding: str) -> str:
    """Escape the query of *href* in the encoding of the page, as browsers do."""

    def escape(text: re.Match[str]) -> str:
        return quote(text[0].encode(encoding, "xmlcharrefreplace"), safe="")

    path, mark, rest = href.partition("?")
    if "#" in path:
        return href
    query, fragment_mark, fragment = rest.partition("#")
    return path + mark + _NOT_ASCII.sub(escape, query) + fragment_mark + fragment
