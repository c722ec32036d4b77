"""Shape: the pages of a generated site, and the links of each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

_WORDS = (  # noqa: SIM905 - words are easier to read in a line
    "amber basin cedar delta ember fjord grove harbor island juniper kettle lantern meadow "
    "nectar orchard pebble quarry river summit timber"
).split()
#: Links of the navigation on every page: to pages of the site, and to other sites.
_NAVIGATION, _ELSEWHERE = 18, 6
#: Links to the children in a tree, which make every page reachable.
_CHILDREN = 7
_PARAGRAPHS = 64
_ELSEWHERES = "".join(
    f'<li><a href="https://elsewhere-{n}.example/about">Elsewhere</a></li>\n'
    for n in range(_ELSEWHERE)
).encode()

#: The prefixes of the URLs of such sites.
OWN = ("http://127.0.0.1:", "http://host-")
#: The minimum number of links of a page; the others lead to the pages before and after it.
FEWEST_LINKS = _NAVIGATION + _ELSEWHERE + _CHILDREN


@dataclass(frozen=True)
class Shape:
    """
    *pages* HTML pages of *size* bytes on average, spread over *hosts*.

    A page is generated from its number alone. It has 0.4 to 1.6 times *size* bytes and *links* links,
    of which all but 6 lead to pages of the site. Each host has consecutive pages, so that most links
    stay on it. Hrefs are paths, or absolute URLs if *absolute*, which several hosts need. The hosts
    have names below localhost: libcurl resolves them to this machine (RFC 6761), other clients may not.
    """

    pages: int
    size: int = 13_000
    links: int = 71
    hosts: int = 1
    absolute: bool = False
    port: int = 0

    compressed: ClassVar = False
    locations: ClassVar = """
        charset utf-8; location = / { try_files /page/0 =404; }
        location /page/ { }
        location / { return 404; }
    """

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= self.pages:
            raise ValueError(f"hosts must be from 1 to the {self.pages} pages, not {self.hosts}")
        if self.links < FEWEST_LINKS:
            raise ValueError(f"links must be {FEWEST_LINKS} or more, not {self.links}")
        if self.hosts > 1 and not self.absolute:
            raise ValueError("a site with several hosts needs absolute links")

    def __str__(self) -> str:
        return f"{self.pages:,} plain pages of {self.size:,} bytes and {self.links} links"

    def url(self, number: int) -> str:
        host = f"host-{number * self.hosts // self.pages}.site.localhost"
        return f"http://{host if self.absolute else '127.0.0.1'}:{self.port}{path(number)}"

    def href(self, number: int) -> str:
        return self.url(number) if self.absolute else path(number)

    def number(self, target: str) -> int | None:
        """Return the number of the page at *target*, the path of a URL."""
        digits = "0" if target == "/" else target.removeprefix("/page/")
        return int(digits) if digits.isdecimal() and int(digits) < self.pages else None

    def page(self, number: int) -> bytes:
        """Return the HTML of page *number*."""
        body = (b"<ul>\n", self._navigation, *self._links(number), b"</ul>\n</body></html>\n")
        head = b"<!doctype html>\n<html><head><title>Page %d</title></head>\n<body>\n" % number
        return b"".join((head, *self._text(number), *body))

    @cached_property
    def _anchors(self) -> list[bytes]:
        return [
            b'<li><a href="%s">Page %d</a></li>\n' % (self.href(number).encode(), number)
            for number in range(self.pages)
        ]

    @cached_property
    def _navigation(self) -> bytes:
        """The same links on every page: to pages spread over the site, and to other sites."""
        spread = (n * self.pages // _NAVIGATION for n in range(_NAVIGATION))
        return b"".join(self._anchors[n] for n in spread) + _ELSEWHERES

    def _links(self, number: int) -> Iterator[bytes]:
        anchors, pages = self._anchors, self.pages
        below = number * _CHILDREN + 1
        for child in range(below, below + _CHILDREN):
            yield anchors[child if child < pages else child % pages]
        neighbours = self.links - FEWEST_LINKS
        before = neighbours // 2
        first, last = number - before, number + neighbours - before
        if first >= 0 and last < pages:
            yield from anchors[first:number]
            yield from anchors[number + 1 : last + 1]
        else:
            yield from (anchors[n % pages] for n in range(first, last + 1) if n != number)

    def _text(self, number: int) -> list[bytes]:
        size = self.size * (40 + number * 37 % 121) // 100
        first = number % _PARAGRAPHS
        paragraphs = self._paragraphs
        many = max(0, size - self._size_of_links) // len(paragraphs[0])
        return [paragraphs[(first + n) % _PARAGRAPHS] for n in range(many)]

    @cached_property
    def _size_of_links(self) -> int:
        return len(self._navigation) + (self.links - _NAVIGATION - _ELSEWHERE) * len(
            self._anchors[-1]
        )

    @cached_property
    def _paragraphs(self) -> list[bytes]:
        """Pieces of markup, all of the same size."""
        chance = random.Random(7)
        return [_paragraph(chance) for _ in range(_PARAGRAPHS)]


def path(number: int) -> str:
    return f"/page/{number}" if number else "/"


def _paragraph(chance: random.Random) -> bytes:
    text = " ".join(chance.choices(_WORDS, k=60))
    return (
        f'<p class="text"><b>{text[:20]}</b> {text[20:140]} <em>{text[140:160]}</em> '
        f'<span class="note">{text[160:240]}</span></p>\n'
    ).encode()
