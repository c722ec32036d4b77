"""A cache of answers, on disk."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

from ...data import Headers, Request, Response
from ...errors import FetchError
from . import cache_freshness as freshness
from .cache_files import Store, Stored, digest
from .contract import DownloadMiddleware, session_of
from .headers import adding

_METHODS = frozenset({"GET", "HEAD"})
_SAFE = _METHODS | {"OPTIONS", "TRACE"}
#: With one of these a request asks for less than the whole answer.
_OWN_TERMS = ("range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since")
#: Of one exchange, not of what it brought; cookies are set once, by who sets them.
_PASSING = frozenset(
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
#: What a 304 says of itself, and not of what is stored.
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "content-range", "content-type"})
#: Failures after which an old answer is better than none.
_AWAY = frozenset({"dns", "connect", "timeout", "network", "proxy", "protocol", "truncated"})
#: Where a request that asks if a stored answer still holds carries that answer.
_VALIDATED = "crawler.cache.validated"


class HttpCache(DownloadMiddleware):
    """
    Answers requests with what was fetched before, as RFC 9111 has it for a private cache.

    An answer that is fresh comes from *directory*, flagged "cached". One that is stale is
    asked for again on condition that it has changed; if it has not, the stored answer is
    used, flagged "revalidated". When there is no answer at all, a stale one is used for as
    long as it allows itself (stale-if-error), or for *stale_if_error* seconds, flagged
    "stale". With *heuristic*, pages that do not say how long they hold are taken to do so
    for a tenth of their age.

    The *policy* "always" is for writing spiders without a network: every answer but a
    passing failure is kept for ever, whatever it says, and nobody is asked twice.

    Only GET and HEAD are cached; bodies of more than *max_body* bytes are not. Answers to
    requests with credentials are kept only where RFC 9111 lets everybody keep them, and
    each session (meta["session"]) has its own. Set-Cookie is not stored. Put middlewares
    that change requests before this one, so that it knows what an answer varies by.
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
        self._store = Store(directory)
        self._always = policy == "always"
        self._heuristic = heuristic
        self._stale_if_error = stale_if_error
        self._max_body = max_body
        self._clock = clock
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """How requests fared: hit, miss, revalidated, stale; and files: stored, damaged, failed."""
        return {**self._counts, "damaged": self._store.damaged, "failed": self._store.failed}

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
        if stored is None or error.kind not in _AWAY:
            return None
        staleness = self._age(stored) - self._lifetime(stored)
        if freshness.may_stand_in(request, stored.headers, staleness, self._stale_if_error):
            return self._answer(stored, request, "stale", "stale")
        return None

    def _concerns(self, request: Request) -> bool:
        if request.method not in _METHODS or any(name in request.headers for name in _OWN_TERMS):
            return False
        return self._always or not freshness.forbids(request)

    def _find(self, request: Request) -> Stored | None:
        stored = self._store.get(_key(request))
        if stored is None or self._always or stored.variant == _variant(request, stored.headers):
            return stored
        return None

    def _is_fresh(self, request: Request, stored: Stored) -> bool:
        lifetime = self._lifetime(stored)
        return freshness.is_fresh(request, stored.headers, self._age(stored), lifetime)

    def _age(self, stored: Stored) -> float:
        return freshness.age(stored.headers, stored.received, stored.delay, self._clock())

    def _lifetime(self, stored: Stored) -> float:
        return freshness.lifetime(stored.headers, stored.received, heuristic=self._heuristic)

    def _answer(self, stored: Stored, request: Request, flag: str, counted: str) -> Response:
        self._counts[counted] += 1
        flags = frozenset({flag})
        return Response(
            request.url, stored.status, stored.headers, stored.body, request, flags=flags
        )

    def _refreshed(self, stored: Stored, response: Response) -> Response:
        """Return what is stored, as the 304 brought it up to date; the host was asked."""
        self._counts["revalidated"] += 1
        fields = [(n, v) for n, v in response.headers.fields if n.lower() not in _OF_THE_BODY]
        replaced = {name.lower() for name, _ in fields} | {"age", "date"}
        kept = [(n, v) for n, v in stored.headers.fields if n.lower() not in replaced]
        flags = response.flags | {"revalidated"}
        whole = response.replace(
            status=stored.status, headers=Headers(kept + fields), body=stored.body, flags=flags
        )
        self._keep(whole, replaced=True)
        return whole

    def _keep(self, response: Response, *, replaced: bool) -> None:
        """Store *response*, if it may be; what it *replaced* is gone in any case."""
        key = _key(response.request)
        if self._is_storable(response):
            self._counts["stored"] += 1
            self._store.put(key, self._stored(response))
        elif replaced and response.status < 500:
            self._store.remove(key)

    def _is_storable(self, response: Response) -> bool:
        if len(response.body) > self._max_body:
            return False
        return freshness.is_lasting(response) if self._always else freshness.is_storable(response)

    def _stored(self, response: Response) -> Stored:
        headers = _lasting(response.headers)
        variant = _variant(response.request, headers)
        return Stored(
            response.status, headers, response.body, self._clock(), response.elapsed, variant
        )

    def _invalidate(self, response: Response) -> None:
        """Forget what a request that changes things may have changed."""
        if 200 <= response.status < 400:
            for method in sorted(_METHODS):
                self._store.remove(_key(response.request, method))

    def __repr__(self) -> str:
        figures = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"<HttpCache {self._store.directory}: {figures}>"


def _key(request: Request, method: str = "") -> str:
    url = request.url.partition("#")[0]
    return f"{method or request.method} {url} {session_of(request)}"


def _lasting(headers: Headers) -> Headers:
    """Return *headers* without those that were for the one exchange."""
    named = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    return Headers([(n, v) for n, v in headers.fields if n.lower() not in _PASSING | named])


def _variant(request: Request, headers: Headers) -> str:
    """Return a digest of what *headers* say the answer varies by: values may be secrets."""
    names = sorted({name.strip().lower() for name in headers.get("vary", "").split(",")} - {""})
    values = [(name, _value(request, name)) for name in names]
    return digest(repr(values).encode()) if values else ""


def _value(request: Request, name: str) -> str:
    given = request.headers.get(name, "")
    if name != "cookie" or not request.cookies:
        return given
    return "; ".join([given, *(f"{key}={value}" for key, value in request.cookies.items())])
