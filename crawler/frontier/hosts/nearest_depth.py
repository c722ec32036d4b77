"""NearestDepth: the smallest depth at which each waiting URL was found."""

from __future__ import annotations

from dataclasses import replace

from ...data import Link, Request


class NearestDepth:
    """
    Remembers the waiting requests if the depth of a URL *matters*: if there is a depth limit.

    A URL that is found again at a smaller depth waits a second time; its older entry is stale.
    """

    def __init__(self, *, matters: bool) -> None:
        self._matters = matters
        self._waiting: dict[str, Request | Link] = {}
        self._stale: set[tuple[str, int]] = set()

    def enter(self, found: Request | Link) -> None:
        if self._matters:
            self._waiting[found.url] = found

    def nearer(self, again: Request | Link) -> Request | Link | None:
        """Return the waiting entry with the depth of *again* if that is smaller; otherwise None."""
        known = self._waiting.get(again.url)
        if known is None or known.depth <= again.depth:
            return None
        self._stale.add((known.url, known.depth))
        return replace(known, depth=again.depth, found_on=again.found_on)

    def depth_of(self, url: str) -> int:
        """Return the depth at which *url* waits; 0 if it does not wait."""
        known = self._waiting.get(url)
        return 0 if known is None else known.depth

    def leave(self, request: Request) -> bool:
        """Forget *request*, which no longer waits; return whether its entry was stale."""
        entry = (request.url, request.depth)
        if entry in self._stale and not request.dont_filter and request.method == "GET":
            self._stale.remove(entry)
            return True
        self._waiting.pop(request.url, None)
        return False

    def __len__(self) -> int:
        """How many entries are stale."""
        return len(self._stale)
