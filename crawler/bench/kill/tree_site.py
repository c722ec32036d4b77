"""A tree of pages on many hosts, each page linked once: a link that is lost is a page that is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import gevent

from ...data import Request
from ...testing import LoopbackSite, Reply
from ...testing.loopback import Hit

#: The addresses of the hosts.
HOSTS = tuple(f"127.0.0.{n}" for n in range(1, 13))
#: One page of so many is reached by a redirect from another host.
_REDIRECTED = 5


#: Seconds after which a scheduler that goes on has sent what it was about to send.
_AFTER = 1.0
#: The header that tells which scheduler sends a request.
SENDER = "x-scheduler"


class Overlap(NamedTuple):
    """Requests of one host by some *schedulers* that were under way together, *at* a time.monotonic()."""

    at: float
    schedulers: set[str]


class Disturbances:
    """When each scheduler, by its place, was stopped or cut off: its transfers may go on meanwhile."""

    def __init__(self) -> None:
        self._times: list[tuple[str, float, float]] = []

    def begin(self, place: int, seconds: float, end: Callable[[], object]) -> None:
        """Note that a scheduler is stopped or cut off for some seconds, and *end* that then."""
        now = time.monotonic()
        self._times.append((str(place), now, now + seconds + _AFTER))
        gevent.spawn_later(seconds, end)

    def explain(self, overlaps: Iterable[Overlap]) -> int:
        """Return how many of *overlaps* are of such schedulers."""
        return sum(map(self._is_of_one, overlaps))

    def _is_of_one(self, overlap: Overlap) -> bool:
        return any(
            place in overlap.schedulers and began <= overlap.at <= ended
            for place, began, ended in self._times
        )


@dataclass
class TreeSite:
    """
    Serves *pages* pages that take *delay* seconds each.

    One that *grows* has no last page before stop_growing(): so a crawl lasts as long as its faults.
    *overlaps* are the requests that began while another one of their host was under way, whose client
    still waited for it.
    """

    pages: int
    delay: float = 0.0
    grows: bool = False
    overlaps: list[Overlap] = field(default_factory=list)
    _linked: int = 0
    #: By host, the requests that are under way.
    _under_way: dict[str, list[Hit]] = field(default_factory=dict)

    def served(self) -> LoopbackSite:
        paths = {f"/page/{n}": self._page for n in range(self.pages)}
        paths |= {f"/moved/{n}": self._page for n in range(0, self.pages, _REDIRECTED)}
        self._site = LoopbackSite(paths, addresses=HOSTS)
        return self._site

    def stop_growing(self) -> None:
        """Have no more pages than those that are linked, and answer at once."""
        if self.grows:
            self.pages, self.delay = self._linked + 1, 0.0

    @property
    def requests(self) -> list[Hit]:
        return self._site.requests

    @property
    def first(self) -> str:
        return self.url("page", 0)

    @property
    def urls(self) -> set[str]:
        """The URLs of all pages."""
        return {self.url("page", number) for number in range(self.pages)}

    def url(self, kind: str, number: int) -> str:
        host = HOSTS[(number + (kind == "moved")) % len(HOSTS)]
        return f"http://{host}:{self._site.port}/{kind}/{number}"

    def _page(self, request: Request) -> Reply:
        host, kind, text = request.url.split("/")[2:]
        hit, under_way = self.requests[-1], self._under_way.setdefault(host, [])
        others = [other for other in under_way if not other.is_abandoned]
        if others:
            senders = {one.headers.get(SENDER, "") for one in (hit, *others)}
            self.overlaps.append(Overlap(time.monotonic(), senders))
        under_way.append(hit)
        try:
            gevent.sleep(self.delay)
        finally:
            under_way.remove(hit)
        number = int(text)
        if kind == "moved":
            return Reply(302, {"location": self.url("page", number)})
        links = "".join(self._link(to) for to in (2 * number + 1, 2 * number + 2))
        return Reply(200, body=f"<title>{number}</title>{links}")

    def _link(self, to: int) -> str:
        if to >= self.pages:
            return ""
        self._linked = max(self._linked, to)
        kind = "page" if to % _REDIRECTED else "moved"
        return f'<a href="{self.url(kind, to)}">{to}</a>'
