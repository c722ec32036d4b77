"""LinkFilter: which links of a page are new, without a look at each by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from functools import lru_cache

from ...data import Link, Links
from ...url import resolve_or_keep, without_fragment
from .fingerprint import Fingerprint
from .seen import ExactSeen, Seen

#: The smallest depth at which a link is turned away when it is found again, and the reason.
Answer = tuple[int, str]

#: How many links are remembered; then all are forgotten.
_MOST = 1 << 15
#: Reasons to turn a link away before it counts as seen; the same holds for it next time.
OUT_OF_SCOPE = frozenset({"invalid", "scheme", "domain", "depth", "length", "exclude", "include"})
#: Those that come before the depth.
_FIRST = frozenset({"invalid", "scheme", "domain"})

_SEEN: Answer = (0, "seen")


class LinkFilter:
    """
    Remembers what admission has decided about links, so that most need no second decision.

    By URL, it knows the reason for which a link is turned away when it is found again, and
    the smallest depth for which that holds: a link found nearer to the start may be let in,
    or count as found there. It leaves out and counts such links in the same way as
    admission would.

    A link that was forgotten is looked up in *seen*, unless the crawl *admits_seen* links. Where there is a *max_depth*, the depth
    at which a URL waits matters: *depth_of* returns it.
    """

    def __init__(
        self,
        max_depth: int | None,
        turned_away: MutableMapping[str, int],
        seen: Seen,
        fingerprint: Fingerprint,
        depth_of: Callable[[str], int],
        *,
        admits_seen: bool = False,
    ) -> None:
        self._known = _Known(seen, fingerprint, depth_of if max_depth is not None else None)
        self._deepest = float("inf") if max_depth is None else max_depth
        self._turned_away = turned_away
        self._admits_seen = admits_seen
        if admits_seen:
            self._known.seen = ExactSeen()  # an empty one

    def unknown(self, links: Links) -> Iterator[Link]:
        """
        Yield those of *links* that admission must decide about; count the others.

        A link that the caller adds before it asks for the next one is known by then.
        """
        depth, page = links.depth, links.found_on
        # Links to the parts of a page lead to one page, which is remembered once.
        urls = [without_fragment(url) if "#" in url else url for url in links.urls]
        known: Callable[[str], Answer | None] = self._known.__getitem__
        # Most links of most pages are known: they are looked up and counted without a loop here.
        answers: list[Answer | None] = list(map(known, urls))
        met = Counter(answers)
        undecided = [answer for answer in met if answer is None or answer[0] > depth]
        places = sorted(place for answer in undecided for place in _places(answers, answer))
        for answer in undecided:
            del met[answer]
        self._count(met, depth)
        for place in places:
            answer = known(urls[place])
            if answer is None or answer[0] > depth:
                yield Link(resolve_or_keep(page, urls[place]), depth, page)
            else:
                self._count({answer: 1}, depth)

    def add(self, link: Link, reason: str | None) -> None:
        """Remember the *reason* for which *link* was turned away; None if it was let in."""
        # Whatever got past the scope has been seen now, whether it was let in or not.
        lasting = reason if reason in OUT_OF_SCOPE and reason is not None else "seen"
        if self._admits_seen and lasting == "seen":
            return
        self._known.remember(link.url, _answer(link.depth, lasting))

    def resume(self, *, same_scope: bool) -> None:
        """Take *seen* for what earlier processes let in, unless they had another scope."""
        self._known.is_incomplete = True
        if not same_scope:
            self._known.seen = ExactSeen()  # an empty one: each link is decided about anew

    def __len__(self) -> int:
        """How many links are remembered."""
        return len(self._known)

    def _count(self, met: Mapping[Answer | None, int], depth: int) -> None:
        """Count links as turned away that were *met* so many times at *depth*."""
        for answer, number in met.items():
            if answer is not None:
                reason = answer[1]
                is_too_deep = depth > self._deepest and reason not in _FIRST
                self._turned_away["depth" if is_too_deep else reason] += number


def _places(answers: list[Answer | None], answer: Answer | None) -> Iterator[int]:
    """Yield the indexes at which *answer* stands in *answers*."""
    place = -1
    with suppress(ValueError):
        while True:
            place = answers.index(answer, place + 1)
            yield place


class _Known(dict[str, Answer]):
    """
    The answers that are remembered; a URL that is not among them is looked up in *seen*.

    Only a canonical URL can be found there, and only a URL in scope was added: no rule
    that comes before *seen* needs to be applied again. Where depth matters, such an answer is
    not remembered: the URL may wait at another depth next time.
    """

    def __init__(
        self, seen: Seen, fingerprint: Fingerprint, depth_of: Callable[[str], int] | None
    ) -> None:
        super().__init__()
        self.seen = seen
        #: Whether *seen* has URLs that are not here.
        self.is_incomplete = False
        self._fingerprint = fingerprint
        self._depth_of = depth_of

    def remember(self, url: str, answer: Answer) -> None:
        if len(self) >= _MOST:
            self.clear()
            self.is_incomplete = True
        self[url] = answer

    def __missing__(self, url: str) -> Answer | None:
        if not self.is_incomplete or self._fingerprint.of(url) not in self.seen:
            return None
        if self._depth_of is not None:
            return _answer(self._depth_of(url), "seen")
        self.remember(url, _SEEN)
        return _SEEN


@lru_cache(1024)
def _answer(depth: int, reason: str) -> Answer:
    return depth, reason
