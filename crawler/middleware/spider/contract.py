"""
Spider middlewares: hooks that add to, change and drop what a spider finds.

    engine side   A        the top: first in the list
                  B        the spider's own middlewares are below those of the crawl
    spider side   spider   its callback (or errback)

On the way down, every process_response (or process_error) is called with the same response (or
error). What it returns is added to what the spider finds; it is not given to the next
middleware. Every request and every item, also of a middleware, then goes up from the spider
through all process_request or process_item hooks; None drops it. Elements pass one at a time:
the next one is made only after the previous one has been taken.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...data import Request, Response
from ...errors import FetchError
from ...http.redirect import is_redirect, redirect_limit


class HttpError(FetchError):
    """The status of *response* is not a success."""

    def __init__(self, response: Response) -> None:
        self.reason = f"the server answered {response.status}"
        super().__init__(f"http_{response.status}", self.reason)
        self.response = response
        self.request = response.request

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.response,)


class SpiderMiddleware:
    """
    Override the hooks you need; the others do nothing.

    Hooks are called by keyword. A hook may block: only its page waits. One instance may serve
    several crawls, so keep the state of a crawl by its spider (PerSpider does).

    process_response() gets successful responses, as the spider does, and those whose status is
    in *handle_httpstatus_list*. The latter still fail, unless the spider wants them too.
    """

    handle_httpstatus_list: Collection[int] = ()

    def process_response(self, response: Response, request: Request, spider: Any) -> Any:
        """
        Return requests, URLs and items to add to those that the spider finds in *response*.

        Return None, one of them, or an iterable; a generator is read only as far as needed.
        """

    def process_error(self, error: Exception, request: Request, spider: Any) -> Any:
        """Return requests, URLs and items to add to those of the spider's errback."""

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        """
        Return the request to pass up, or None to drop it.

        *response* is None for first requests, and for those made for an error without response.
        """
        return request

    def process_item(self, item: Any, response: Response | None, spider: Any) -> Any:
        """Return the item to pass up; return None, or raise DropItem, to drop it."""
        return item

    def next_request(self, spider: Any) -> Request | str | None:
        """Return one more request, or None; called when the crawl has nothing left to do."""

    def open_spider(self, spider: Any) -> None:
        """Prepare; called before the first request."""

    def close_spider(self, spider: Any) -> None:
        """Release resources; called at the end, even of a crawl that failed."""


def succeeded(response: Response, spider: Any) -> bool:
    """
    Return whether *response* is a success: its status is 2xx, or in ``handle_httpstatus_list``.

    That list is taken from the meta of the request, or else from the spider. A redirect is a
    success if the meta of the request has 0 as its limit of redirects.
    """
    if is_redirect(response) and redirect_limit(response.request, 1) == 0:
        return True
    listed = getattr(spider, "handle_httpstatus_list", ())
    listed = response.request.meta.get("handle_httpstatus_list", listed)
    return 200 <= response.status < 300 or response.status in listed
