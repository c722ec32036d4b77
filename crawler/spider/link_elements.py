"""Which attributes of which elements hold links, and the links as they are written there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from .nofollow import is_nofollow

#: The attributes of an element by name; without a value, None or "".
Attributes: TypeAlias = Mapping[str, str | None]
#: The name of an element and its attributes; or the href of an anchor that does not say nofollow.
Element: TypeAlias = tuple[str, Attributes] | str
#: The attributes to look at, by the names of their elements.
Wanted: TypeAlias = Mapping[str, tuple[str, ...]]

ANCHORS = ("a", "area")
#: The elements that lead to other pages.
FOLLOWED = (*ANCHORS, "frame", "iframe", "meta")
_LAZY = ("data-src", "data-lazy-src", "data-original", "data-srcset")
#: The attributes of each element that hold URLs, in the order in which they are yielded.
_ATTRIBUTES: Wanted = {
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
#: The content of a refresh: seconds, and the URL, maybe in quotes.
_REFRESH = re.compile(
    r"""\s*+(?:\d++[\d.]*+|\.[\d.]*+)(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+"""
    r"""(?:'([^']*+)|"([^"]*+)|(.*+))""",
    re.IGNORECASE | re.DOTALL,
)
#: Elements in which an empty URL means the page itself.
_MAY_BE_EMPTY = frozenset({*ANCHORS, "form"})
#: A URL of a srcset, with what follows it. The last character of a srcset belongs to a URL: commas
#: and blanks at its end would be read again for each of them.
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]*[^\t\n\f\r ,])(?:[\t\n\f\r ][^,]*+)?")
#: What browsers strip from both ends of a URL: blanks and control characters.
BLANKS = "".join(map(chr, range(33)))


@lru_cache
def attributes_of(tags: tuple[str, ...]) -> Wanted:
    try:
        return {tag: _ATTRIBUTES[tag] for tag in tags}
    except KeyError as unknown:
        known = ", ".join(_ATTRIBUTES)
        raise ValueError(f"{unknown} elements have no links; tags must be among {known}") from None


def hrefs(elements: Sequence[Element], wanted: Wanted, left_out: list[str] | None) -> list[str]:
    """Return the URLs as they are written; those that say nofollow go to *left_out* if given."""
    urls = [element for element in elements if type(element) is str]
    if len(urls) == len(elements):
        return urls
    urls = []
    for element in elements:
        if isinstance(element, str):
            urls.append(element)
            continue
        tag, given = element
        if not given:
            continue
        says_nofollow = left_out is not None and is_nofollow(given.get("rel"))
        (left_out if left_out is not None and says_nofollow else urls).extend(
            _urls(tag, given, wanted[tag])
        )
    return urls


def _urls(tag: str, given: Attributes, names: Iterable[str]) -> Iterator[str]:
    if tag == "meta":
        given = {"content": _refresh(given)}
    for name in names:
        value = given.get(name) or ""
        if name.endswith("srcset"):
            yield from _CANDIDATE.findall(value.rstrip(", \t\r\n\f"))
        elif value or (name in given and tag in _MAY_BE_EMPTY):
            yield value


def _refresh(given: Attributes) -> str:
    """Return the URL that a ``meta`` element with these attributes leads to; "" if to none."""
    if (given.get("http-equiv") or "").strip().lower() != "refresh":
        return ""
    found = _REFRESH.match(given.get("content") or "")
    return "" if found is None else found[found.lastindex or 0].strip(BLANKS)
