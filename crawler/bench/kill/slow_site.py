"""SlowSite: a site with the detours and errors of the web, whose pages are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...data import Request
from ...testing import LoopbackSite, Reply, generated_site
from ...testing.site import Page

#: The addresses of the two hosts; all pages are on the first.
HOME, AWAY = "127.0.0.1", "127.0.0.2"
#: The number of attempts at a page that always answers 500.
ATTEMPTS = 3

_LINK = re.compile(r'href="/page/(\d+)"')
_RULES = "User-agent: *\nDisallow: /private/\n"
#: The last digit of the numbers of the pages that answer 503 at first.
_BUSY = 3
#: By the last digit of a page's number, the URLs that other pages have for it.
_URLS = {
    1: ("/moved/{}",),
    2: ("/away/{}",),
    4: ("/page/{}", "/page/{}#part", "/./page/{}", "/copy/{}"),
}
#: By the number of a page modulo 20, another page that it links to.
_EXTRA = {5: "/private/{}", 6: "/missing/{}", 7: "/broken/{}"}
_STATUS = {"/private/{}": 200, "/missing/{}": 404, "/broken/{}": 500}


@dataclass(frozen=True)
class SlowSite:
    """
    A site of *pages* that each take *delay* seconds, so that a crawl is long enough to be killed.

    Of ten pages, one is reached by two redirects, one by redirects to another host and back, one
    answers 503 at first, and one has several URLs. Of twenty pages, one links to a page that
    robots.txt forbids, one to a page that is missing, and one to a page that always answers 500.
    """

    pages: int = 400
    delay: float = 0.01

    def served(self) -> LoopbackSite:
        site: dict[str, Page] = {"/robots.txt": _robots, "/robots-away.txt": _RULES}
        generated = generated_site(pages=self.pages, size=1500)
        for number, (path, text) in enumerate(generated.items()):
            body = _with_detours(number, text)
            site[path] = self._busy(body) if number % 10 == _BUSY else self._reply(200, body)
            site |= self._redirects(number, path)
            if number % 20 in _EXTRA:
                extra = _EXTRA[number % 20]
                site[extra.format(number)] = self._reply(_STATUS[extra], f"<title>{extra}</title>")
        return LoopbackSite(site, addresses=(HOME, AWAY))

    def _redirects(self, number: int, path: str) -> dict[str, Page]:
        match number % 10:
            case 1:
                first, second = f"/moved/{number}", f"/moved/{number}/again"
                return {first: self._redirect(301, second), second: self._redirect(302, path)}
            case 2:
                return {f"/away/{number}": self._away}
            case 4:
                return {f"/copy/{number}": self._redirect(307, path)}
        return {}

    def _away(self, request: Request) -> Reply:
        """Redirect to the other host, and from there to the page."""
        if HOME in request.url:
            return self._redirect(302, request.url.replace(HOME, AWAY))
        return self._redirect(301, request.url.replace(AWAY, HOME).replace("/away/", "/page/"))

    def _busy(self, body: str) -> Callable[[Request], Reply]:
        asked = Counter[str]()

        def page(request: Request) -> Reply:
            asked[request.url] += 1
            return self._reply(200 if asked[request.url] > 1 else 503, body)

        return page

    def _redirect(self, status: int, to: str) -> Reply:
        return Reply(status, {"location": to}, delay=self.delay)

    def _reply(self, status: int, body: str) -> Reply:
        return Reply(status, body=body, delay=self.delay)


def recorded(pages: Mapping[str, Page]) -> set[str]:
    """Return the paths of *pages* of which a crawl has a record."""
    return {path for path in pages if path == "/" or path.startswith(("/page", "/miss", "/broken"))}


def planned(path: str) -> int:
    """Return how often a crawl that is not killed requests *path*, of both hosts."""
    if path.startswith("/broken/"):
        return ATTEMPTS
    is_busy = path.startswith("/page/") and path.endswith(str(_BUSY))
    return 2 if is_busy or path.startswith("/away/") else 1


def _robots(request: Request) -> Page:
    """Answer for the first host; that of the second is a redirect."""
    if HOME in request.url:
        return _RULES
    to = request.url.replace(AWAY, HOME).replace("robots", "robots-away")
    return Reply(301, {"location": to})


def _with_detours(number: int, text: str) -> str:
    """Return the *text* of a page with other URLs for the pages that it links to."""

    def other(link: re.Match[str]) -> str:
        to = int(link[1])
        known = _URLS.get(to % 10, ("/page/{}",))
        return f'href="{known[number % len(known)].format(to)}"'

    changed = _LINK.sub(other, text)
    extra = _EXTRA.get(number % 20)
    return f'{changed}<a href="{extra.format(number)}">extra</a>' if extra else changed
