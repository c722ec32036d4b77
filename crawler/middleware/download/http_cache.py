"""HttpCache: a cache of responses on disk."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

from ...data import Request, Response
from ...errors import FetchError
from ...headers import Headers
from . import cache_freshness as freshness
from .cache_files import CacheFiles, StoredResponse, digest
from .contract import DownloadMiddleware, session_of
from .headers import adding

_METHODS = frozenset({"GET", "HEAD"})
_SAFE = _METHODS | {"OPTIONS", "TRACE"}
#: Request fields that ask for less than the whole response.
_PARTIAL = ("range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since")
#: Fields that belong to one exchange, not to the response; a cookie is set only once.
_OF_THE_EXCHANGE = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "proxy-connection",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
#: Fields of a 304 that describe the 304 itself, not the stored response.
_OF_THE_304 = frozenset({"content-encoding", "content-length", "content-range", "content-type"})
#: Failures after which a stale response is better than none.
_FAILURES = frozenset({"dns", "connect", "timeout", "network", "proxy", "protocol", "truncated"})
#: The key of meta under which a request that validates a stored response carries it.
_VALIDATED = "crawler.cache.validated"


class HttpCache(DownloadMiddleware):
    """
    Answers requests with stored responses, as RFC 9111 specifies for a private cache.

    A fresh response is taken from *directory* and flagged "cached". For a stale one the host is
    asked whether it has changed; if not, the stored response is used and flagged "revalidated".
    If the fetch fails, a stale response is used for as long as it allows (stale-if-error) or for
    *stale_if_error* seconds, and flagged "stale". With *heuristic*, pages without an explicit
    lifetime are fresh for a tenth of their age.

    The *policy* "always" is for writing spiders without a network: every response except a
    temporary failure is kept for ever, whatever its headers are, and no host is asked twice.

    Only GET and HEAD are cached, with bodies of up to *max_body* bytes. Responses to requests
    with credentials are stored only where RFC 9111 allows that for a shared cache, and each
    session (meta["session"]) has its own. Set-Cookie is not stored. Place middlewares that
    change requests before this one, so that it sees the fields by which a response varies. A body
    that is saved to a file is not stored.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        policy: Literal["rfc9111", "always"] = "rfc9111",
        heuristic: bool = False,
        stale_if_error: float = 0.0,
        max_body: int = 16 * 2**20,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if policy not in ("rfc9111", "always"):
            raise ValueError(f"policy must be rfc9111 or always, not {policy!r}")
        if not stale_if_error >= 0 or max_body < 0:
            raise ValueError("stale_if_error and max_body must be 0 or more")
        self._files = CacheFiles(directory)
        self._always = policy == "always"
        self._heuristic = heuristic
        self._stale_if_error = stale_if_error
        self._max_body = max_body
        self._clock = clock
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """Requests by result: hit, miss, revalidated, stale; and files: stored, damaged, failed."""
        return {**self._counts, "damaged": self._files.damaged, "failed": self._files.failed}

    def before_download(self, request: Request) -> Request | Response:
        if not self._concerns(request):
            return request
        stored = self._find(request)
        if stored is None:
            self._counts["miss"] += 1
            return request
        if self._always or self._is_fresh(request, stored):
            return self._answer(stored, request, "cached", "hit")
        meta = {**request.meta, _VALIDATED: stored}
        return adding(request, freshness.validators(stored.headers), meta=meta)

    def after_download(self, response: Response) -> Response:
        request = response.request
        if response.flags & {"cached", "stale"}:
            return response
        if request.method not in _SAFE:
            self._invalidate(response)
            return response
        validated = request.meta.get(_VALIDATED)
        if response.status == 304 and validated is not None:
            return self._refreshed(validated, response)
        if validated is not None or self._concerns(request):
            self._keep(response, replaced=validated is not None)
        return response

    def on_failure(self, request: Request, error: FetchError) -> Response | None:
        stored = request.meta.get(_VALIDATED)
        if stored is None or error.kind not in _FAILURES:
            return None
        staleness = self._age(stored) - self._lifetime(stored)
        if freshness.may_stand_in(request, stored.headers, staleness, self._stale_if_error):
            return self._answer(stored, request, "stale", "stale")
        return None

    def _concerns(self, request: Request) -> bool:
        if request.method not in _METHODS or any(name in request.headers for name in _PARTIAL):
            return False
        if request.save_to is not None:
            return False
        return self._always or not freshness.forbids(request)

    def _find(self, request: Request) -> StoredResponse | None:
        stored = self._files.get(_key(request))
        if stored is None or self._always or stored.variant == _variant(request, stored.headers):
            return stored
        return None

    def _is_fresh(self, request: Request, stored: StoredResponse) -> bool:
        lifetime = self._lifetime(stored)
        return freshness.is_fresh(request, stored.headers, self._age(stored), lifetime)

    def _age(self, stored: StoredResponse) -> float:
        return freshness.age(stored.headers, stored.received, stored.delay, self._clock())

    def _lifetime(self, stored: StoredResponse) -> float:
        return freshness.lifetime(stored.headers, stored.received, heuristic=self._heuristic)

    def _answer(
        self, stored: StoredResponse, request: Request, flag: str, counted: str
    ) -> Response:
        self._counts[counted] += 1
        flags = frozenset({flag})
        return Response(
            request.url, stored.status, stored.headers, stored.body, request, flags=flags
        )

    def _refreshed(self, stored: StoredResponse, response: Response) -> Response:
        """Return the stored response, updated by a 304 and flagged: the host was asked."""
        self._counts["revalidated"] += 1
        fields = [(n, v) for n, v in response.headers.fields if n.lower() not in _OF_THE_304]
        replaced = {name.lower() for name, _ in fields} | {"age", "date"}
        kept = [(n, v) for n, v in stored.headers.fields if n.lower() not in replaced]
        flags = response.flags | {"revalidated"}
        whole = response.replace(
            status=stored.status, headers=Headers(kept + fields), body=stored.body, flags=flags
        )
        self._keep(whole, replaced=True)
        return whole

    def _keep(self, response: Response, *, replaced: bool) -> None:
        """Store *response* if allowed; else remove the one it *replaced*, except after a 5xx."""
        key = _key(response.request)
        if self._is_storable(response):
            self._counts["stored"] += 1
            self._files.put(key, self._stored(response))
        elif replaced and response.status < 500:
            self._files.remove(key)

    def _is_storable(self, response: Response) -> bool:
        if len(response.body) > self._max_body:
            return False
        return freshness.is_reusable(response) if self._always else freshness.is_storable(response)

    def _stored(self, response: Response) -> StoredResponse:
        headers = _stored_headers(response.headers)
        variant = _variant(response.request, headers)
        return StoredResponse(
            response.status, headers, response.body, self._clock(), response.elapsed, variant
        )

    def _invalidate(self, response: Response) -> None:
        """Remove the responses that an unsafe request may have made invalid."""
        if 200 <= response.status < 400:
            for method in sorted(_METHODS):
                self._files.remove(_key(response.request, method))

    def __repr__(self) -> str:
        figures = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"<HttpCache {self._files.directory}: {figures}>"


def _key(request: Request, method: str = "") -> str:
    url = request.url.partition("#")[0]
    return f"{method or request.method} {url} {session_of(request)}"


def _stored_headers(headers: Headers) -> Headers:
    """Return *headers* without those that belong to one exchange."""
    named = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    return Headers([(n, v) for n, v in headers.fields if n.lower() not in _OF_THE_EXCHANGE | named])


def _variant(request: Request, headers: Headers) -> str:
    """Return a digest of the request fields that Vary names; the values may be secret."""
    names = sorted({name.strip().lower() for name in headers.get("vary", "").split(",")} - {""})
    values = [(name, _value(request, name)) for name in names]
    return digest(repr(values).encode()) if values else ""


def _value(request: Request, name: str) -> str:
    given = request.headers.get(name, "")
    if name != "cookie" or not request.cookies:
        return given
    return "; ".join([given, *(f"{key}={value}" for key, value in request.cookies.items())])
