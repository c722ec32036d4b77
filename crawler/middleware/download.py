"""
Download middlewares: what may happen to a request before it is fetched, and to its response.

    request ──before──▶ A ──▶ B ──▶ fetch
    response ◀──after── A ◀── B ◀───┘

The chain is a fetch function itself, so it can be given to a Downloader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..data import Request, Response
from ..errors import FetchError

Fetch = Callable[[Request], Response]


class DownloadMiddleware:
    """
    Override the hooks you need; the others do nothing.

    Any hook may raise Refusal, which settles the request as refused with a reason, or
    Retry, which lets it wait for another attempt. Anything else it raises stops the chain
    and is an error that names the middleware.
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
        self.chain = sorted(middlewares, key=lambda one: -one.priority)
        for one in self.chain:
            if not isinstance(one, DownloadMiddleware):
                raise ValueError(f"a DownloadMiddleware is needed, not {one!r}")
        self._fetch = fetch

    def __call__(self, request: Request) -> Response:
        return self._through(request, 0)

    def close(self) -> None:
        for one in self.chain:
            one.close()

    def _through(self, request: Request, place: int) -> Response:
        """Let *request* pass the middleware at *place* and all behind it."""
        if place == len(self.chain):
            return self._fetch(request)
        one = self.chain[place]
        answer = one.before_download(request)
        if isinstance(answer, Request):
            answer = self._behind(one, answer, place + 1)
        return _checked(one.after_download(_checked(answer, one)), one)

    def _behind(self, one: DownloadMiddleware, request: Request, place: int) -> Response:
        try:
            return self._through(request, place)
        except FetchError as error:
            instead = one.on_failure(request, error)
            if instead is None:
                raise
            return instead

    def __repr__(self) -> str:
        names = " → ".join(type(one).__name__ for one in self.chain)
        return f"<Middlewares {names or 'none'} → {self._fetch!r}>"


def _checked(answer: object, one: DownloadMiddleware) -> Response:
    if isinstance(answer, Response):
        return answer
    raise TypeError(f"{type(one).__name__} returned {answer!r:.200}, not a Request or Response")
