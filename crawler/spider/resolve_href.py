"""From an href, as it is written in a page, to its absolute URL."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TypeVar
from urllib.parse import quote

from ..data import Response
from ..errors import InvalidURL
from ..url import resolve
from .link_elements import BLANKS

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
#: From the folder of a page, or from one above it. The first name has no colon: so it is not a scheme.
_RELATIVE = re.compile(
    r"(?![?#]|\Z)((?:\.\.?/)*+)"
    rf"(?:(?!\.|%2[Ee])[A-Za-z0-9\-._~!$&'()*+,;=@|\[\]%]++{_PATH}*+)?+{_REST}"
)
_QUERY = re.compile(rf"(?=\?){_REST}")
_WHOLE = re.compile(rf"https?://{_HOST}{_PORT}{_PATH}++{_REST}")
_HTTP = ("http://", "https://")
#: How many hrefs are kept per site and per folder, how many absolute URLs for all sites, and
#: their length.
_MANY, _MANY_WHOLE, _LONG = 1024, 1 << 14, 256
#: The greatest length of a base, which is also that of a URL that a crawl accepts: it is read again
#: for each link of a page.
LONGEST_BASE = 2083
#: The start of URLs that never lead to a page.
NOT_PAGES = ("javascript:", "mailto:", "data:", "tel:", "sms:", "about:", "blob:")
#: The start of URLs that browsers do not take for a base.
_NO_BASES = ("data:", "javascript:")
_NOT_ASCII = re.compile(r"[^\0-\x7f]++")
_ASCII = "".join(map(chr, range(128)))
#: What browsers remove from a URL, or escape in every part of it, but not in a host.
_ESCAPES = str.maketrans(
    {**dict.fromkeys("\t\n\r"), " ": "%20", '"': "%22", "<": "%3C", ">": "%3E"}
)
_ODD = "".join((*map(chr, _ESCAPES), "\\"))

_Url = TypeVar("_Url", str, str | None)

#: Recent hrefs that are absolute URLs: they lead to the same page from every site.
_whole: dict[str, str | None] = {}


@lru_cache(maxsize=16)
def base_of(url: str, given: str | None) -> str:
    """Return the base that a document at *url* names; *url* if it names none that can be used."""
    base = "" if given is None or len(given) > LONGEST_BASE else _resolved(url, given)
    is_usable = base and len(base) <= LONGEST_BASE and not base.startswith(_NO_BASES)
    return base if is_usable else url


class HrefResolver:
    """
    Resolves the hrefs of one page against *base*.

    An href that is not a valid URL is returned unchanged: the frontier refuses and counts it.
    *known* maps simple hrefs to their URLs, those that lead into their own page to "", and all
    others to None.
    """

    def __init__(self, response: Response, base: str) -> None:
        self._response = response
        self._base = base
        folder = _folder(base) if base.startswith(_HTTP) else ""
        self.known = _in_folder(folder) if folder else _on_site("")
        self._parsed: dict[str, str | None] = {}
        self._has_folder = bool(folder)

    def __call__(self, href: str) -> str:
        return self.known[href] or self.parse(href)

    def parse(self, href: str) -> str:
        """Resolve any *href*: a simple one takes longer than in *known*."""
        return self._parsed.get(href) or _keep(self._parsed, href, self._parse(href), _MANY)

    def _parse(self, href: str) -> str:
        if not href.isascii() and not self._response.encoding.startswith("utf-"):
            href = _encode_query(href, self._response.encoding)
        return _resolved(self._base, href) or href

    def with_query(self, href: str) -> str:
        """Return the URL of *href* if it is nothing but a simple query, or else ""."""
        return self._page + href if self._has_folder and _QUERY.match(href) else ""

    @cached_property
    def _page(self) -> str:
        """The base without its query and fragment."""
        return _resolved(self._base, "?")[:-1]

    def simplified(self, hrefs: list[str]) -> list[str]:
        """
        Return *hrefs* as they may be looked up in *known*, all at once: one by one takes longer.

        Those that are not simple then are not what was written, and must not be used.
        """
        text = "".join(hrefs)
        if text.isascii() and not any(map(text.__contains__, _ODD)):
            return hrefs
        bare = "\0".join([href.strip(BLANKS) for href in hrefs])
        if not bare.isascii():
            bare = self._escaped(bare)
        found = bare.translate(_ESCAPES).split("\0")
        if "\\" in bare:
            found = [_with_slashes(href) for href in found]
        return found if len(found) == len(hrefs) else hrefs

    def _escaped(self, hrefs: str) -> str:
        """Escape what is not ASCII in *hrefs*, which "\\0" separates."""
        encoding = self._response.encoding
        if not encoding.startswith("utf-"):
            hrefs = "\0".join([_encode_query(href, encoding) for href in hrefs.split("\0")])
        return quote(hrefs, safe=_ASCII, errors="surrogatepass")


class _OnSite(dict[str, str | None]):
    """The URLs of hrefs that are absolute, or lead into their own page; those of *root* first."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = root
        self._slash = len(root) - 1

    def __missing__(self, href: str) -> str | None:
        if url := _whole.get(href):
            href = url  # one string for all sites, not one for each
        elif self._is_inside(href) or _WHOLE.match(href):
            url = _keep(_whole, href, href, _MANY_WHOLE)
        elif href.startswith("#"):
            url = ""
        return url if url is None else _keep(self, href, url, _MANY)

    def _is_inside(self, href: str) -> bool:
        root = self.root
        return bool(root and href.startswith(root) and _FROM_ROOT.match(href, self._slash))


class _InFolder(dict[str, str | None]):
    """The URLs of the hrefs of the pages in one folder."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self._site = _on_site(_root(folder))
        self._scheme = folder[: folder.index("/")]

    def __missing__(self, href: str) -> str | None:
        if url := _whole.get(href):
            return _keep(self, url, url, _MANY)
        if href[:1] == "#":
            return ""  # not kept: a page may have one for each of its lines
        if href[:1] == "?":
            return None  # it depends on the page
        if relative := _RELATIVE.match(href):
            name = relative.end(1)
            folder = self._above(href.count("../", 0, name)) if name else self._folder
            url = folder + href[name:]
        elif _FROM_ROOT.match(href):
            url = self._site.root + href[1:]
        else:
            url = self._site[self._scheme + href if href.startswith("//") else href]
        return _keep(self, href, url, _MANY)

    def _above(self, levels: int) -> str:
        """Return the folder that many *levels* above this one; above the root is the root."""
        folder, root = self._folder, len(self._site.root)
        while levels and len(folder) > root:
            folder = folder[: folder.rindex("/", 0, -1) + 1]
            levels -= 1
        return folder


def _keep(known: dict[str, str | None], href: str, url: _Url, many: int) -> _Url:
    if len(known) >= many:
        known.clear()
    if len(href) < _LONG:
        known[href] = url
    return url


@lru_cache(maxsize=128)
def _on_site(root: str) -> _OnSite:
    return _OnSite(root)


@lru_cache(maxsize=64)
def _in_folder(folder: str) -> _InFolder:
    return _InFolder(folder)


def _folder(base: str) -> str:
    """Return the URL of "." relative to *base*; the pages of a folder share the result."""
    path = base.partition("#")[0].partition("?")[0]
    has_folder = path.count("/") > 2 and "\\" not in path
    return _folder_of(path[: path.rindex("/") + 1] if has_folder else path)


@lru_cache(maxsize=1024)
def _folder_of(path: str) -> str:
    return _resolved(path, ".")


def _root(folder: str) -> str:
    """Return the URL of "/" relative to *folder*."""
    return folder[: folder.index("/", len("https://")) + 1]


def _resolved(base: str, href: str) -> str:
    """Return the absolute URL of *href*; "" if it is not valid."""
    try:
        return resolve(base, href)
    except InvalidURL:
        return ""


def _with_slashes(href: str) -> str:
    """Replace the backslashes of a path, as browsers do."""
    return href if "?" in href or "#" in href else href.replace("\\", "/")


def _encode_query(href: str, encoding: str) -> str:
    """Escape the query of *href* in the encoding of the page, as browsers do."""

    def escape(text: re.Match[str]) -> str:
        return quote(text[0].encode(encoding, "xmlcharrefreplace"), safe="")

    path, mark, rest = href.partition("?")
    if "#" in path:
        return href
    query, fragment_mark, fragment = rest.partition("#")
    return path + mark + _NOT_ASCII.sub(escape, query) + fragment_mark + fragment
