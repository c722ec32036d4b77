"""Chains: finds alike pages that lead from one to the next without end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .recent_numbers import RecentNumbers

#: What may be an id: a UUID, or a run of letters and digits. It never starts inside a longer run.
_RUN = re.compile(
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])|[0-9A-Za-z]{8,}+"
)
#: Every match of _RUN has one, and it is found in less time.
_LONG_ENOUGH = re.compile(r"[0-9A-Za-z]{8}")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_NUMBER = re.compile(r"[0-9]++")
#: From these lengths on, letters and digits together are an id even if they are not hexadecimal,
#: and letters alone are one too.
_LONG, _VERY_LONG = 16, 20
#: Chains are not looked for in the first part of this size of *longest*: hardly any page is that
#: deep, so that the others cost nothing.
_SHALLOW = 100


class Chains:
    """
    Finds URLs that continue a chain of more than *longest* alike pages.

    Alike pages have URLs that differ only in numbers and ids: ``/day/1``, ``/day/2``. Those
    that are listed on one page have the same depth. If one is deeper than the first of them by
    more than *longest*, a chain of so many pages leads to it, each found on the one before.

    A site that puts a new session id into each link leads into a tree whose depth grows
    slowly. So the URLs that differ only in an id are counted too, if they were found on a
    page that has another id in the same place.

    Both are known for the latest *most* kinds of URLs.
    """

    def __init__(self, longest: int, most: int) -> None:
        self._longest = longest
        self._shallow = longest // _SHALLOW
        self._first_depths = RecentNumbers(most)
        self._variants = RecentNumbers(most)
        #: The page that links were found on last, and its ids.
        self._page = ""
        self._ids: dict[str, str] = {}

    def add(self, url: str, depth: int, found_on: str | None) -> bool:
        """Count *url*, which is new; return whether it continues a chain that is too long."""
        if depth > self._shallow:
            kind = _NUMBER.sub("0", _without_ids(url))
            if depth - self._first_depths.least(kind, depth) > self._longest:
                return True
        if found_on is None or not self._has_new_id(url, found_on):
            return False
        return self._variants.add(_without_ids(url)) > self._longest

    def may_count(self, pages: Iterable[str], deepest: int) -> bool:
        """Return whether add() may count a URL that was found on one of *pages*, at most so deep."""
        return deepest > self._shallow or any(map(self._ids_of, dict.fromkeys(pages)))

    def _has_new_id(self, url: str, page: str) -> bool:
        """Return whether *url* has an id where *page* has another one."""
        ids = self._ids if page == self._page else self._ids_of(page)
        return bool(ids) and any(ids.get(place, id_) != id_ for place, id_ in _ids(url))

    def _ids_of(self, page: str) -> dict[str, str]:
        self._page = page
        self._ids = dict(_ids(page)) if _LONG_ENOUGH.search(page) else {}
        return self._ids


def _ids(url: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each id in *url*, except in its query."""
    for run in _RUN.finditer(url.partition("?")[0]):
        if _is_id(run[0]):
            yield _place(url[: run.start()]), run[0]


def _place(before: str) -> str:
    """Return what stands for the place of an id behind *before*: the name that it has, or its path."""
    name = before[max(before.rfind("/"), before.rfind(";")) :]
    return name if len(name) > 1 else _without_ids(before)


def _without_ids(url: str) -> str:
    return _RUN.sub(lambda run: "*" if _is_id(run[0]) else run[0], url)


def _is_id(run: str) -> bool:
    """Return whether a *run* of letters and digits is an id: neither a word nor a number."""
    if run.isdecimal():
        return False
    if run.isalpha():
        return len(run) >= _VERY_LONG
    return len(run) >= _LONG or _HEX.fullmatch(run) is not None
