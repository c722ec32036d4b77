"""
Download middlewares: what may happen to a request before its fetch, and to its response.

    request ──before──▶ A ──▶ B ──▶ fetch
    response ◀──after── A ◀── B ◀───┘

A middleware may return a response instead of a fetch, from before_download or on_failure. The
response then passes the after_download of that middleware and of all middlewares outside it, as
if it had been fetched; the middlewares inside it are not called. When a hook raises, no
after_download is called.

On its way out a response carries the request that was sent, so that every after_download sees
what was added. At the end the chain puts back the request that came in: credentials, cookies
and proxies were meant for one exchange, and parsers copy requests.
"""

from __future__ import annotations

from ...data import Request, Response
from ...errors import CrawlerError, FetchError


class MiddlewareError(CrawlerError):
    """A hook failed or returned a wrong type: the message names it, ``__cause__`` is the reason."""


class DownloadMiddleware:
    """
    Override the hooks you need; the others do nothing.

    Any hook may raise Refusal, which settles the request as refused with a reason; Retry,
    which lets it wait for another attempt; or FetchError, as if the fetch had failed.
    Any other exception stops the chain as a MiddlewareError.

    Many requests pass at the same time, each in its own greenlet. Keep the state of one request
    in its *meta*, not in the middleware.
    """

    #: Middlewares with a higher priority are nearer to the scheduler; equal ones keep their order.
    priority: int = 0

    def before_download(self, request: Request) -> Request | Response:
        """Return the request to fetch, changed or not; or the response to use instead."""
        return request

    def after_download(self, response: Response) -> Response | Request:
        """
        Return the response to pass on; requests to add go into its *found*.

        A request that is returned instead is sent at once, and this hook gets its response: for
        a server that wants to be asked twice, such as one that wants a login. It is possible
        once for a request, and only at the same origin, whose delay it does not wait for.
        """
        return response

    def on_failure(self, request: Request, error: FetchError) -> Response | None:
        """Return a response to use in spite of *error*, or None to let the error pass."""
        return None

    def close(self) -> None:
        """Release what was opened; called once, at the end of the crawl."""


def session_of(request: Request) -> str:
    """Return the session of *request*: each has its own cookies, proxy and cached pages."""
    return str(request.meta.get("session", ""))
