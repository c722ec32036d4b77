"""WebShape: a generated site whose markup, links and page sizes are like those of the web."""

from __future__ import annotations

import posixpath
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import islice
from typing import ClassVar

from . import web_markup as markup

#: Bytes of HTML: the median, the spread of the logarithm, and the limits.
MEDIAN, SIGMA, SMALLEST, LARGEST = 27_000, 0.8, 5_000, 200_000
#: Links to the children in a tree, which make every page reachable.
_CHILDREN = 7
#: The links of the navigation, on every page.
_NAVIGATION = 12
#: Pages in one directory.
_NEIGHBOURS = 40
#: How likely a link is relative, or root-relative; the others are absolute.
_RELATIVE, _ROOTED = 0.5, 0.3
#: How likely a link has a fragment.
_FRAGMENT = 0.1
_NUMBER = re.compile(r"/(?:[a-z]+/)+(?:\d+/)?[a-z-]+-(\d+)(?:\.html|/)|/view\?id=(\d+)&lang=en")


@dataclass(frozen=True)
class WebShape:
    """
    *pages* HTML pages of 5 to 200 kB, half of them above 27 kB, on one host; sent with gzip.

    A page is generated from its number and *seed* alone. Every page has one URL, which links write
    as a relative or absolute one, with "..", a query, a fragment or entities. Some links lead to
    other sites or to no page, and scripts and comments have text that looks like links.
    """

    pages: int
    seed: int = 7
    port: int = 0

    hosts: ClassVar = 1
    compressed: ClassVar = True
    locations: ClassVar = """
        charset utf-8; gzip on; gzip_comp_level 1; gzip_min_length 0;
        location = / { try_files /page/0 =404; }
        location = /view { try_files /page/$arg_id =404; }
        location ~ "-(?<number>[0-9]+)(\\.html|/)$" { try_files /page/$number =404; }
        location / { return 404; }
    """

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise ValueError(f"a site needs a page, not {self.pages}")

    def __str__(self) -> str:
        return f"{self.pages:,} pages like those of the web"

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, number: int) -> str:
        return self.origin + path(number)

    def number(self, target: str) -> int | None:
        """Return the number of the page at *target*, the path and query of a URL."""
        if target == "/":
            return 0
        found = _NUMBER.fullmatch(target)
        number = int(found[1] or found[2]) if found else self.pages
        return number if number < self.pages and path(number) == target else None

    def page(self, number: int) -> bytes:
        """Return the HTML of page *number*."""
        chance = random.Random(self.seed * 1_000_003 + number)
        size = min(max(chance.lognormvariate(0, SIGMA) * MEDIAN, SMALLEST), LARGEST)
        links = self._links(number, chance)
        pieces = [markup.head(number, chance), self._navigation]
        pieces.append(markup.children([*islice(links, _CHILDREN)], chance))
        end = markup.foot(chance)
        remaining = size - len(end) - sum(map(len, pieces))
        while remaining > 0:
            piece = markup.block(links, chance)
            remaining -= len(piece)
            pieces.append(piece)
        return "".join((*pieces, end)).encode()

    @cached_property
    def _navigation(self) -> str:
        spread = (n * self.pages // _NAVIGATION for n in range(_NAVIGATION))
        return markup.navigation([escape(path(number)) for number in spread])

    def _links(self, number: int, chance: random.Random) -> Iterator[str]:
        """Yield hrefs for page *number* without end: first those of its children in the tree."""
        here, below = path(number), number * _CHILDREN + 1
        for child in range(below, below + _CHILDREN):
            yield self._href(here, child % self.pages, chance)
        while True:
            near = chance.random() < 0.7
            other = number + chance.randint(-20, 20) if near else chance.randrange(self.pages)
            yield self._href(here, other % self.pages, chance)

    def _href(self, here: str, number: int, chance: random.Random) -> str:
        """Return the value of a quoted attribute."""
        target, form = path(number), chance.random()
        if form < _RELATIVE:
            written = _relative(here, target)
        else:
            written = target if form < _RELATIVE + _ROOTED else self.origin + target
        if chance.random() < _FRAGMENT:
            written += "#section-2"
        return escape(written)


def path(number: int) -> str:
    """Return the path of page *number*, with its query."""
    if number == 0:
        return "/"
    word = markup.WORDS[number % len(markup.WORDS)]
    if number % 10 == 9:
        return f"/view?id={number}&lang=en"
    if number % 10 == 8:
        return f"/topics/{word}-{number}/"
    directory = number // _NEIGHBOURS
    section = markup.SECTIONS[directory % len(markup.SECTIONS)]
    return f"/{section}/{2000 + directory % 25}/{word}-of-the-{section}-{number}.html"


def _relative(here: str, target: str) -> str:
    """Return *target* relative to the page *here*: "name", "../name" or "view?id=1"."""
    directory = here[: here.partition("?")[0].rindex("/") + 1]
    file, mark, query = target.partition("?")
    found = posixpath.relpath(file, directory)
    return found + "/" * file.endswith("/") + mark + query
