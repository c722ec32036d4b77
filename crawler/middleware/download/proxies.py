"""Proxies that take turns, and rest while they fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import blake2b
from time import monotonic

from ...data import Request, Response
from ...errors import FetchError, Retry
from .contract import DownloadMiddleware, session_of

_PROXY = re.compile(r"(https?|socks4a?|socks5h?)://([^@/\s]*@)?[^@/\s]+/?", re.IGNORECASE)
#: How many failures of a kind in a row bench a proxy: a timeout may be the fault of the site.
_STRIKES = {"proxy": 1, "connect": 1, "timeout": 3}


class Proxy:
    """One proxy of a pool; *benched_until* is a time of the pool's clock."""

    def __init__(self, url: str) -> None:
        if not _PROXY.fullmatch(url):
            raise ValueError(f"a proxy is a URL such as http://host:port, not {_shown(url)!r}")
        self.url = url
        self.failures = 0
        self.pauses = 0
        self.benched_until = 0.0

    def __str__(self) -> str:
        return _shown(self.url)


class ProxyPool(DownloadMiddleware):
    """
    Gives every request that has none a proxy, in turn.

    A proxy that fails is benched for *pause* seconds, and twice as long each further
    time, up to *max_pause*, until an answer comes through it. While all are benched,
    requests wait for the first that is back.

    With *sticky*, the requests of a session (their meta["session"]) use one proxy, and
    another only while that one is benched.
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
        proxy = next((one for one in self._in_order(request) if one.benched_until <= now), None)
        if proxy is None:
            first = min(one.benched_until for one in self._proxies.values())
            raise Retry("no_proxy", first - now)
        self._used(proxy)
        return request.replace(proxy=proxy.url)

    def after_download(self, response: Response) -> Response:
        proxy = self._proxies.get(response.request.proxy or "")
        if proxy is not None and not response.flags & {"cached", "stale"}:
            proxy.failures = proxy.pauses = 0
            proxy.benched_until = 0.0
        return response

    def on_failure(self, request: Request, error: FetchError) -> None:
        proxy = self._proxies.get(request.proxy or "")
        now = self._clock()
        # What was under way when a proxy was benched tells nothing new.
        if proxy is None or error.kind not in _STRIKES or proxy.benched_until > now:
            return
        proxy.failures += 1
        if proxy.failures >= _STRIKES[error.kind]:
            proxy.failures = 0
            proxy.benched_until = now + min(self._pause * 2.0**proxy.pauses, self._max_pause)
            proxy.pauses = min(proxy.pauses + 1, 64)

    def _in_order(self, request: Request) -> Iterable[Proxy]:
        session = session_of(request)
        if not (self._sticky and session):
            return self._proxies.values()
        return sorted(self._proxies.values(), key=lambda proxy: _weight(session, proxy))

    def _used(self, proxy: Proxy) -> None:
        """Let *proxy* be the last in turn."""
        self._proxies[proxy.url] = self._proxies.pop(proxy.url)

    def __repr__(self) -> str:
        now = self._clock()
        shown = (
            f"{one} (benched for {one.benched_until - now:.0f} s)"
            if one.benched_until > now
            else str(one)
            for one in self._proxies.values()
        )
        return f"<ProxyPool {', '.join(shown)}>"


def _weight(session: str, proxy: Proxy) -> bytes:
    """Order proxies differently, but always the same, for each session."""
    return blake2b(f"{session}\n{proxy.url}".encode(), digest_size=8).digest()


def _shown(url: str) -> str:
    """Return *url* without its user and password."""
    scheme, found, rest = url.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}" if found else url.rpartition("@")[2]
