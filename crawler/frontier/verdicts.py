"""Verdicts: what was said of links lately, so that it need not be found out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import MutableMapping
from functools import cache
from operator import itemgetter

from ..data import Link

#: How many links are remembered; then all are forgotten.
_MOST = 1 << 15
#: Reasons to turn a link away before it counts as seen; the same holds for it next time.
OUT_OF_SCOPE = frozenset({"invalid", "scheme", "domain", "depth", "length", "exclude", "include"})
#: Those that come before the depth.
_FIRST = frozenset({"invalid", "scheme", "domain"})

_reason = itemgetter(1)


class Verdicts:
    """
    By URL, the reason for which a link is turned away when it is found again, and the depth
    from which on: found nearer to the start, it may be let in, or count as found there.

    Whoever finds links looks in *known* first, and tells count() what was there: the quick way
    for the many that lead to where others have led.
    """

    def __init__(self, max_depth: int | None, counts: MutableMapping[str, int]) -> None:
        #: The depth from which on a URL is turned away, and the reason.
        self.known: dict[str, tuple[int, str]] = {}
        self._deepest = float("inf") if max_depth is None else max_depth
        self._counts = counts

    def add(self, link: Link, reason: str | None) -> None:
        """Remember what the *reason* of the first time, None if it was let in, means for the next."""
        if len(self.known) >= _MOST:
            self.known.clear()
        # Whatever got past the scope has been seen now, whether it was let in or not.
        lasting = reason if reason in OUT_OF_SCOPE and reason is not None else "seen"
        self.known[link.url] = _verdict(link.depth, lasting)

    def count(self, met: list[tuple[int, str]], depth: int) -> None:
        """Count links as turned away for the verdicts that were *met* at *depth*."""
        for reason, number in Counter(map(_reason, met)).items():
            is_too_deep = depth > self._deepest and reason not in _FIRST
            self._counts["depth" if is_too_deep else reason] += number


@cache
def _verdict(depth: int, reason: str) -> tuple[int, str]:
    return depth, reason
