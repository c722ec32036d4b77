"""
Spider middlewares: what may be added to, and done with, what a spider finds.

    engine side   A        top-most: first in the list
                  B        the spider's own middlewares come below the crawl's
    spider side   spider   its callback (or errback)

Going down, every process_response (or process_error) is called with the same response; what
each returns is kept, and none feeds the next. Then every request and every item, whoever made
it, goes up from the spider through each process_request or process_item; None ends its way.
Both happen one element at a time: nothing is made before the one before has been taken.
"""

from __future__ import annotations

from typing import Any

from ...data import Request, Response
from ...errors import FetchError


class HttpError(FetchError):
    """A status that is no success; the *response* is there to be looked at."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"http_{response.status}", response.url)
        self.response = response

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.response,)


class SpiderMiddleware:
    """
    Override the hooks you need; the others do nothing.

    Hooks are called by keyword. A hook may block: it blocks one page. One instance may
    serve several crawls, so what belongs to one of them should be kept by its spider.
    """

    def process_response(self, response: Response, request: Request, spider: Any) -> Any:
        """
        Return what to add to what the spider finds in *response*.

        That may be nothing, one request, URL or item, or any number of them; a generator
        is read as its findings are needed.
        """

    def process_error(self, error: Exception, request: Request, spider: Any) -> Any:
        """Return what to do about *error*, beside what the spider's errback returns."""

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        """
        Return the request to pass up, None to drop it.

        There is no *response* for first requests, and for those made because of an error
        without one.
        """
        return request

    def process_item(self, item: Any, response: Response | None, spider: Any) -> Any:
        """Return the item to pass up, None (or raise DropItem) to drop it."""
        return item

    def next_request(self, spider: Any) -> Request | str | None:
        """Return one more request when the crawl has nothing left to do; None if there is none."""

    def open_spider(self, spider: Any) -> None:
        """Get ready, before the first request."""

    def close_spider(self, spider: Any) -> None:
        """Let go; called at the end, whatever happened."""


def succeeded(response: Response, spider: Any) -> bool:
    """2xx is success, and what ``handle_httpstatus_list`` names (the request's before the spider's)."""
    listed = getattr(spider, "handle_httpstatus_list", ())
    listed = response.request.meta.get("handle_httpstatus_list", listed)
    return 200 <= response.status < 300 or response.status in listed
