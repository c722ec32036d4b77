"""Verdicts: what was said of links lately, so that it need not be found out again."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from functools import cache

from ..data import Link

#: How many links are remembered; then all are forgotten.
_MOST = 1 << 15
#: Reasons to turn a link away before it counts as seen; the same holds for it next time.
OUT_OF_SCOPE = frozenset({"invalid", "scheme", "domain", "depth", "length", "exclude", "include"})
#: Those that come before the depth.
_FIRST = frozenset({"invalid", "scheme", "domain"})


class Verdicts:
    """
    By URL, the reason for which a link is turned away when it is found again, and the depth
    from which on: found nearer to the start, it may be let in, or count as found there.
    """

    def __init__(self, max_depth: int | None) -> None:
        self._deepest = float("inf") if max_depth is None else max_depth
        self._known: dict[str, tuple[int, str]] = {}

    def add(self, link: Link, reason: str | None) -> None:
        """Remember what the *reason* of the first time, None if it was let in, means for the next."""
        if len(self._known) >= _MOST:
            self._known.clear()
        # Whatever got past the scope has been seen now, whether it was let in or not.
        lasting = reason if reason in OUT_OF_SCOPE and reason is not None else "seen"
        self._known[link.url] = _verdict(link.depth, lasting)

    def asked(self, counts: MutableMapping[str, int]) -> Callable[[str, int], bool]:
        """
        Return a function that says if a URL is known to be turned away at a depth.

        If so it adds one to the *counts* of the reason. A closure: it is called for every
        link of every page, and looking things up in objects would take as long again.
        """
        known, deepest = self._known.get, self._deepest

        def turns_away(url: str, depth: int) -> bool:
            verdict = known(url)
            if verdict is None or verdict[0] > depth:
                return False
            reason = verdict[1]
            if depth > deepest and reason not in _FIRST:
                reason = "depth"
            counts[reason] += 1
            return True

        return turns_away


@cache
def _verdict(depth: int, reason: str) -> tuple[int, str]:
    return depth, reason
