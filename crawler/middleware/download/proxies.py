"""One proxy for all requests; or proxies that are used in turn, and paused when they fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import blake2b
from time import monotonic

from ...data import Request, Response
from ...errors import FetchError, Retry
from .contract import DownloadMiddleware, session_of

_PROXY = re.compile(r"(https?|socks4a?|socks5h?)://([^@/\s]*@)?[^@/\s]+/?", re.IGNORECASE)
#: How many failures of a kind in a row pause a proxy: a timeout may be the fault of the site.
_FAILURES_TO_PAUSE = {"proxy": 1, "connect": 1, "timeout": 3}


class Proxy:
    """One proxy of a pool; *paused_until* is a time of the pool's clock."""

    def __init__(self, url: str) -> None:
        if not _PROXY.fullmatch(url):
            raise ValueError(f"a proxy is a URL such as http://host:port, not {_shown(url)!r}")
        self.url = url
        self.failures = 0
        self.pauses = 0
        self.paused_until = 0.0

    def __str__(self) -> str:
        return _shown(self.url)


class DefaultProxy(DownloadMiddleware):
    """Gives every request without a proxy this one; if it fails, so does the request."""

    def __init__(self, url: str) -> None:
        self._proxy = Proxy(url)

    def before_download(self, request: Request) -> Request:
        return request.replace(proxy=self._proxy.url) if request.proxy is None else request

    def __repr__(self) -> str:
        return f"<DefaultProxy {self._proxy}>"


class ProxyPool(DownloadMiddleware):
    """
    Gives every request without a proxy the next proxy in turn.

    A proxy that fails is paused for *pause* seconds, and twice as long each further time, up
    to *max_pause*; a response through it resets that. While all proxies are paused, requests
    wait for the first pause to end.

    With *sticky*, the requests of a session (their meta["session"]) use one proxy, and
    another one only while that one is paused.
    """

    def __init__(
        self,
        proxies: Iterable[str],
        *,
        pause: float = 10.0,
        max_pause: float = 3600.0,
        sticky: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if isinstance(proxies, str):
            raise ValueError("proxies must be a list, not just one URL")
        self._proxies = {url: Proxy(url) for url in proxies}
        if not self._proxies:
            raise ValueError("a pool needs at least one proxy")
        if not 0 < pause <= max_pause:
            raise ValueError(f"pause must be more than 0 and at most max_pause, not {pause!r}")
        self._pause = pause
        self._max_pause = max_pause
        self._sticky = sticky
        self._clock = clock

    def before_download(self, request: Request) -> Request:
        if request.proxy is not None:
            return request
        now = self._clock()
        proxy = next((one for one in self._in_order(request) if one.paused_until <= now), None)
        if proxy is None:
            first = min(one.paused_until for one in self._proxies.values())
            raise Retry("no_proxy", first - now)
        self._used(proxy)
        return request.replace(proxy=proxy.url)

    def after_download(self, response: Response) -> Response:
        proxy = self._proxies.get(response.request.proxy or "")
        if proxy is not None and not response.flags & {"cached", "stale"}:
            proxy.failures = proxy.pauses = 0
            proxy.paused_until = 0.0
        return response

    def on_failure(self, request: Request, error: FetchError) -> None:
        proxy = self._proxies.get(request.proxy or "")
        now = self._clock()
        # A request that was under way when its proxy was paused is not another failure.
        if proxy is None or error.kind not in _FAILURES_TO_PAUSE or proxy.paused_until > now:
            return
        proxy.failures += 1
        if proxy.failures >= _FAILURES_TO_PAUSE[error.kind]:
            proxy.failures = 0
            proxy.paused_until = now + min(self._pause * 2.0**proxy.pauses, self._max_pause)
            proxy.pauses = min(proxy.pauses + 1, 64)

    def _in_order(self, request: Request) -> Iterable[Proxy]:
        session = session_of(request)
        if not (self._sticky and session):
            return self._proxies.values()
        return sorted(self._proxies.values(), key=lambda proxy: _weight(session, proxy))

    def _used(self, proxy: Proxy) -> None:
        """Make *proxy* the last in turn."""
        self._proxies[proxy.url] = self._proxies.pop(proxy.url)

    def __repr__(self) -> str:
        now = self._clock()
        shown = (
            f"{one} (paused for {one.paused_until - now:.0f} s)"
            if one.paused_until > now
            else str(one)
            for one in self._proxies.values()
        )
        return f"<ProxyPool {', '.join(shown)}>"


def _weight(session: str, proxy: Proxy) -> bytes:
    """Return the key that orders the proxies of a session: always the same, but its own."""
    return blake2b(f"{session}\n{proxy.url}".encode(), digest_size=8).digest()


def _shown(url: str) -> str:
    """Return *url* without its user and password."""
    scheme, found, rest = url.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}" if found else url.rpartition("@")[2]
