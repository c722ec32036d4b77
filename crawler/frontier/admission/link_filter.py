"""Verdicts: what was said of links lately, so that it need not be found out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, MutableMapping
from functools import cache
from operator import itemgetter

from ...data import Link
from .seen import ExactSeen, Seen, fingerprint_of

#: The depth from which on a URL is turned away, and the reason.
Verdict = tuple[int, str]

#: How many links are remembered; then all are forgotten.
_MOST = 1 << 15
#: Reasons to turn a link away before it counts as seen; the same holds for it next time.
OUT_OF_SCOPE = frozenset({"invalid", "scheme", "domain", "depth", "length", "exclude", "include"})
#: Those that come before the depth.
_FIRST = frozenset({"invalid", "scheme", "domain"})

_SEEN: Verdict = (0, "seen")

_reason = itemgetter(1)


class Verdicts:
    """
    By URL, the reason for which a link is turned away when it is found again, and the depth
    from which on: found nearer to the start, it may be let in, or count as found there.

    Whoever finds links asks on() first, and tells count() what that has said: the quick way
    for the many that lead to where others have led.

    What is forgotten is found out again as far as *seen* tells. Where there is a *max_depth*, it
    matters how near to the start a URL waits: *depth_of* tells.
    """

    def __init__(
        self,
        max_depth: int | None,
        counts: MutableMapping[str, int],
        seen: Seen,
        depth_of: Callable[[str], int],
    ) -> None:
        self.known = _Known(seen, depth_of if max_depth is not None else None)
        #: Returns what is known of a URL, None if nothing is: the method of the dict, for speed.
        self.on: Callable[[str], Verdict | None] = self.known.__getitem__
        self._deepest = float("inf") if max_depth is None else max_depth
        self._counts = counts

    def go_on(self, *, same_scope: bool) -> None:
        """Be told that more has been seen than is known here, and whether in the *same_scope*."""
        self.known.has_forgotten = True
        if not same_scope:
            self.known.seen = ExactSeen()  # in which nothing is

    def add(self, link: Link, reason: str | None) -> None:
        """Remember what the *reason* of the first time, None if it was let in, means for the next."""
        # Whatever got past the scope has been seen now, whether it was let in or not.
        lasting = reason if reason in OUT_OF_SCOPE and reason is not None else "seen"
        self.known.keep(link.url, _verdict(link.depth, lasting))

    def count(self, met: list[Verdict], depth: int) -> None:
        """Count links as turned away for the verdicts that were *met* at *depth*."""
        for reason, number in Counter(map(_reason, met)).items():
            is_too_deep = depth > self._deepest and reason not in _FIRST
            self._counts["depth" if is_too_deep else reason] += number


class _Known(dict[str, Verdict]):
    """
    Some of the verdicts; to ask for another finds out if its URL was seen.

    Only a canonical URL can be found so, and only in scope is one seen: what is looked at before
    a URL counts as seen need not be looked at again. Where depth matters, what is found out is
    not kept: the URL may wait at another depth next time.
    """

    def __init__(self, seen: Seen, depth_of: Callable[[str], int] | None) -> None:
        super().__init__()
        self.seen = seen
        self.has_forgotten = False
        self._depth_of = depth_of

    def keep(self, url: str, verdict: Verdict) -> None:
        if len(self) >= _MOST:
            self.clear()
            self.has_forgotten = True
        self[url] = verdict

    def __missing__(self, url: str) -> Verdict | None:
        if not self.has_forgotten or fingerprint_of(url) not in self.seen:
            return None
        if self._depth_of is not None:
            return _verdict(self._depth_of(url), "seen")
        self.keep(url, _SEEN)
        return _SEEN


@cache
def _verdict(depth: int, reason: str) -> Verdict:
    return depth, reason
