"""Middlewares: the chain of download middlewares, which is a fetch function for a Downloader."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ... import url as urls
from ...data import Request, Response
from ...errors import FetchError, Refusal, Retry
from .contract import DownloadMiddleware, MiddlewareError

log = logging.getLogger(__name__)

Fetch = Callable[[Request], Response]


class Middlewares:
    """A fetch function with middlewares around it; the first middleware is the outermost."""

    def __init__(self, fetch: Fetch, middlewares: Iterable[DownloadMiddleware]) -> None:
        given = list(middlewares)
        for middleware in given:
            if not isinstance(middleware, DownloadMiddleware):
                raise ValueError(
                    "a download middleware is an instance of a subclass of DownloadMiddleware, not "
                    f"{middleware!r:.200}; its hooks are before_download, after_download and on_failure"
                )
        self.chain = sorted(given, key=lambda middleware: -middleware.priority)
        self._fetch = fetch

    def __call__(self, request: Request) -> Response:
        response = self._through(request, 0)
        return response if response.request is request else response.replace(request=request)

    def close(self) -> None:
        """Close all middlewares, the innermost first, even if some of them fail."""
        for middleware in reversed(self.chain):
            try:
                middleware.close()
            except Exception:
                log.exception("%s failed to close", type(middleware).__name__)

    def _through(self, request: Request, place: int) -> Response:
        """Pass *request* through the middleware at *place* and all inside it."""
        if place == len(self.chain):
            return self._fetched(request)
        middleware = self.chain[place]
        answer = _ask(middleware, "before_download", request)
        if isinstance(answer, Request):
            request, answer = answer, self._inside(middleware, answer, place + 1)
        elif not isinstance(answer, Response):
            _reject(middleware, "before_download", answer, "a Request or a Response")
        response = _ask(middleware, "after_download", _answering(answer, request))
        if isinstance(response, Request) and _is_same_origin(response, request):
            again = self._inside(middleware, response, place + 1)
            response = _ask(middleware, "after_download", _answering(again, response))
        if not isinstance(response, Response):
            _reject(middleware, "after_download", response, "a Response, or once a Request")
        return response

    def _inside(self, middleware: DownloadMiddleware, request: Request, place: int) -> Response:
        try:
            return self._through(request, place)
        except FetchError as error:
            instead = _ask(middleware, "on_failure", request, error)
            if instead is None:
                raise
            if not isinstance(instead, Response):
                _reject(middleware, "on_failure", instead, "a Response or None")
            return instead

    def _fetched(self, request: Request) -> Response:
        response = self._fetch(request)
        if not isinstance(response, Response):
            raise TypeError(f"{self._fetch!r} returned {response!r:.200}, not a Response")
        return _answering(response, request)

    def __repr__(self) -> str:
        names = " → ".join(type(middleware).__name__ for middleware in self.chain)
        return f"<Middlewares {names or 'none'} → {self._fetch!r}>"


def _is_same_origin(one: Request, other: Request) -> bool:
    return urls.origin(one.url) == urls.origin(other.url)


def _ask(middleware: DownloadMiddleware, hook: str, *arguments: Any) -> Any:
    try:
        return getattr(middleware, hook)(*arguments)
    except (Refusal, Retry, FetchError):
        raise
    except Exception as error:
        message = f"{type(middleware).__name__}.{hook}: {type(error).__name__}: {error}"
        raise MiddlewareError(message) from error


def _reject(middleware: DownloadMiddleware, hook: str, answer: object, wanted: str) -> NoReturn:
    name = type(middleware).__name__
    raise MiddlewareError(f"{name}.{hook} returned {answer!r:.200}, not {wanted}")


def _answering(response: Response, request: Request) -> Response:
    """Return *response* as the answer to *request*, unless it already carries a form of it."""
    if response.request.id == request.id:
        return response
    return response.replace(request=request)
