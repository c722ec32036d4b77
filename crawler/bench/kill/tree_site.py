"""A tree of pages on many hosts, each page linked once: a link that is lost is a page that is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import gevent

from ...data import Request
from ...testing import LoopbackSite, Reply
from ...testing.loopback import Hit

#: The addresses of the hosts.
HOSTS = tuple(f"127.0.0.{n}" for n in range(1, 13))
#: One page of so many is reached by a redirect from another host.
_REDIRECTED = 5


@dataclass
class TreeSite:
    """
    Serves *pages* pages that take *delay* seconds each.

    *overlaps* counts the requests that began while another one of their host was under way.
    """

    pages: int
    delay: float = 0.0
    overlaps: int = 0
    _under_way: Counter[str] = field(default_factory=Counter)

    def served(self) -> LoopbackSite:
        paths = {f"/page/{n}": self._page for n in range(self.pages)}
        paths |= {f"/moved/{n}": self._page for n in range(0, self.pages, _REDIRECTED)}
        self._site = LoopbackSite(paths, addresses=HOSTS)
        return self._site

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
        self.overlaps += self._under_way[host] > 0
        self._under_way[host] += 1
        try:
            gevent.sleep(self.delay)
        finally:
            self._under_way[host] -= 1
        number = int(text)
        if kind == "moved":
            return Reply(302, {"location": self.url("page", number)})
        links = "".join(self._link(to) for to in (2 * number + 1, 2 * number + 2))
        return Reply(200, body=f"<title>{number}</title>{links}")

    def _link(self, to: int) -> str:
        if to >= self.pages:
            return ""
        kind = "page" if to % _REDIRECTED else "moved"
        return f'<a href="{self.url(kind, to)}">{to}</a>'
