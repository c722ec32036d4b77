"""
Download middlewares: what may happen to a request before it is fetched, and to its response.

    request ──before──▶ A ──▶ B ──▶ fetch
    response ◀──after── A ◀── B ◀───┘

A response that a middleware gives instead of a fetch, from before_download or on_failure, goes
out from where it was given: through the after_download of that middleware and of all outside
it, as if it had been fetched; the middlewares behind never hear of it. What a hook raises
passes no after_download at all.

On its way out a response has the request that was really sent, so that every after_download
sees what was added. In the end it gets back the request that came in: credentials, cookies and
proxies were meant for one exchange, and parsers copy requests.

The chain is a fetch function itself, so it can be given to a Downloader.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ...data import Request, Response
from ...errors import CrawlerError, FetchError, Refusal, Retry

log = logging.getLogger(__name__)

Fetch = Callable[[Request], Response]


class MiddlewareError(CrawlerError):
    """A hook failed, or returned what it may not: the message names it, ``__cause__`` tells why."""


class DownloadMiddleware:
    """
    Override the hooks you need; the others do nothing.

    Any hook may raise Refusal, which settles the request as refused with a reason; Retry,
    which lets it wait for another attempt; or FetchError, as if the fetch had failed.
    Anything else it raises stops the chain as a MiddlewareError.

    Many requests pass at once, each in a greenlet of its own, so what belongs to one of
    them should travel in its *meta*, not in the middleware.
    """

    #: Middlewares with more of it are nearer to the scheduler; equals stay in their order.
    priority: int = 0

    def before_download(self, request: Request) -> Request | Response:
        """Return the request to fetch, changed or not; or the response to use instead."""
        return request

    def after_download(self, response: Response) -> Response:
        """Return the response to pass on; requests to add go into its *found*."""
        return response

    def on_failure(self, request: Request, error: FetchError) -> Response | None:
        """Return a response to use in spite of *error*; None lets it pass."""
        return None

    def close(self) -> None:
        """Let go of what was opened; called once, at the end of the crawl."""


class Middlewares:
    """A fetch function with middlewares around it, the first of them outermost."""

    def __init__(self, fetch: Fetch, middlewares: Iterable[DownloadMiddleware]) -> None:
        given = list(middlewares)
        for one in given:
            if not isinstance(one, DownloadMiddleware):
                raise ValueError(f"a DownloadMiddleware is needed, not {one!r}")
        self.chain = sorted(given, key=lambda one: -one.priority)
        self._fetch = fetch

    def __call__(self, request: Request) -> Response:
        response = self._through(request, 0)
        return response if response.request is request else response.replace(request=request)

    def close(self) -> None:
        """Close all, the innermost first; one that fails does not keep the others open."""
        for one in reversed(self.chain):
            try:
                one.close()
            except Exception:
                log.exception("%s failed to close", type(one).__name__)

    def _through(self, request: Request, place: int) -> Response:
        """Let *request* pass the middleware at *place* and all behind it."""
        if place == len(self.chain):
            return self._fetched(request)
        one = self.chain[place]
        answer = _ask(one, "before_download", request)
        if isinstance(answer, Request):
            request, answer = answer, self._behind(one, answer, place + 1)
        elif not isinstance(answer, Response):
            _object(one, "before_download", answer, "a Request or a Response")
        response = _ask(one, "after_download", _answering(answer, request))
        if not isinstance(response, Response):
            _object(one, "after_download", response, "a Response")
        return response

    def _behind(self, one: DownloadMiddleware, request: Request, place: int) -> Response:
        try:
            return self._through(request, place)
        except FetchError as error:
            instead = _ask(one, "on_failure", request, error)
            if instead is None:
                raise
            if not isinstance(instead, Response):
                _object(one, "on_failure", instead, "a Response or None")
            return instead

    def _fetched(self, request: Request) -> Response:
        response = self._fetch(request)
        if not isinstance(response, Response):
            raise TypeError(f"{self._fetch!r} returned {response!r:.200}, not a Response")
        return _answering(response, request)

    def __repr__(self) -> str:
        names = " → ".join(type(one).__name__ for one in self.chain)
        return f"<Middlewares {names or 'none'} → {self._fetch!r}>"


def session_of(request: Request) -> str:
    """Return the name under which a request has cookies, a proxy and cached pages of its own."""
    return str(request.meta.get("session", ""))


def _ask(one: DownloadMiddleware, hook: str, *arguments: Any) -> Any:
    try:
        return getattr(one, hook)(*arguments)
    except (Refusal, Retry, FetchError):
        raise
    except Exception as error:
        told = f"{type(one).__name__}.{hook}: {type(error).__name__}: {error}"
        raise MiddlewareError(told) from error


def _object(one: DownloadMiddleware, hook: str, answer: object, wanted: str) -> NoReturn:
    name = type(one).__name__
    raise MiddlewareError(f"{name}.{hook} returned {answer!r:.200}, not {wanted}")


def _answering(response: Response, request: Request) -> Response:
    """Return *response* as one to *request*, unless it says itself which form of it was sent."""
    if response.request.id == request.id:
        return response
    return response.replace(request=request)
