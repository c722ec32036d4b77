"""
Spider middlewares: what may be added to, and done with, what a spider finds.

    engine side   A        top-most: first in the list
                  B        the spider's own middlewares come below the crawl's
    spider side   spider   its callback (or errback)

Going down, every process_response (or process_error) is called with the same response; what
each returns is kept, and none feeds the next. Then every request and every item, whoever made
it, goes up from the spider through each process_request or process_item; None ends its way.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from ..data import Request, Response
from ..errors import CrawlerError, FetchError, InvalidURL
from ..url import resolve

log = logging.getLogger(__name__)


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

    A hook may return None, one request or item, or any number of them; generators are
    read as they go. Hooks are called by keyword. A hook may block: it blocks one page.
    """

    def process_response(self, response: Response, request: Request, spider: Any) -> Any:
        """Return what to add to what the spider finds in *response*."""

    def process_error(self, error: CrawlerError, request: Request, spider: Any) -> Any:
        """Return what to do about *error*, beside what the spider's errback returns."""

    def process_request(self, request: Request, response: Response | None, spider: Any) -> Any:
        """Return the request to pass up, None to drop it; *response* is None for first requests."""
        return request

    def process_item(self, item: Any, response: Response | None, spider: Any) -> Any:
        """Return the item to pass up, None to drop it."""
        return item

    def next_request(self, spider: Any) -> Request | str | None:
        """Return one more request when the crawl has nothing left to do; None if there is none."""

    def open_spider(self, spider: Any) -> None:
        """Get ready, before the first request."""

    def close_spider(self, spider: Any) -> None:
        """Let go; called at the end, whatever happened."""


@dataclass
class HookFigures:
    """How often a hook was called, how many elements it dropped or failed on, and its seconds."""

    calls: int = 0
    drops: int = 0
    failures: int = 0
    seconds: float = 0.0


class SpiderChain:
    """
    The middlewares of one crawl, in order, around one spider.

    What a hook raises costs what that hook would have given, or the one element it was
    looking at; the page is then reported as failed, and everything else goes on.
    """

    def __init__(self, middlewares: Iterable[Any], spider: Any) -> None:
        self.spider = spider
        self.middlewares = [_built(one) for one in middlewares]
        self.figures: dict[tuple[str, str], HookFigures] = {}

    def response(self, response: Response, callback: Callable[[Response], Any]) -> Iterator[Any]:
        """Yield what comes of *response*; at the end, raise what failed."""
        known = {"response": response, "request": response.request, "spider": self.spider}
        return self._flow("process_response", known, partial(callback, response), response)

    def error(
        self, error: Exception, request: Request, errback: Callable[[Any], Any]
    ) -> Iterator[Any]:
        """Yield what is to be done about *error*; at the end, raise what failed."""
        known = {"error": error, "request": request, "spider": self.spider}
        response = getattr(error, "response", None)
        return self._flow("process_error", known, partial(errback, error), response)

    def request(self, request: Request | str) -> Request | None:
        """Pass a first request up the chain; None if it was dropped."""
        failures: list[Exception] = []
        passed = self._up(Request(request) if isinstance(request, str) else request, None, failures)
        if failures:
            raise failures[0]
        return passed  # type: ignore[no-any-return]

    def next_request(self) -> Request | None:
        """Ask for one more, top-down; the first that has one wins."""
        for one in self.middlewares:
            found = one.next_request(spider=self.spider)
            if found is not None:
                return self.request(found)
        return None

    def open(self) -> None:
        for one in self.middlewares:
            one.open_spider(spider=self.spider)

    def close(self) -> None:
        """Close all, the last first; one that fails does not keep the others open."""
        for one in reversed(self.middlewares):
            try:
                one.close_spider(spider=self.spider)
            except Exception:
                log.exception("%s failed to close", type(one).__name__)

    def _flow(
        self,
        hook: str,
        known: Mapping[str, Any],
        last: Callable[[], Any],
        response: Response | None,
    ) -> Iterator[Any]:
        failures: list[Exception] = []
        sources: list[tuple[Any, str, Callable[[], Any]]] = [
            (one, hook, partial(getattr(one, hook), **known)) for one in self.middlewares
        ]
        for owner, name, call in (*sources, (self.spider, _name(last), last)):
            for found in self._read(owner, name, call, failures):
                passed = self._up(found, response, failures)
                if passed is not None:
                    yield passed
        if failures:
            raise failures[0] if len(failures) == 1 else ExceptionGroup("hooks failed", failures)

    def _read(
        self, owner: Any, hook: str, call: Callable[[], Any], failures: list[Exception]
    ) -> Iterator[Any]:
        """Yield what *call* gives, as it gives it; only its own time is counted."""
        figures = self._figures_of(owner, hook)
        figures.calls += 1
        outputs: Iterator[Any] | None = None
        while True:
            began = perf_counter()
            try:
                outputs = results(call()) if outputs is None else outputs
                found = next(outputs)
            except StopIteration:
                return
            except Exception as failure:
                figures.failures += 1
                failures.append(failure)
                return
            finally:
                figures.seconds += perf_counter() - began
            yield found

    def _up(self, found: Any, response: Response | None, failures: list[Exception]) -> Any:
        """Pass one element from the spider up to the engine; None if it was dropped."""
        for one in reversed(self.middlewares):
            if isinstance(found, str):
                found = Request(_absolute(found, response))
            kind = "request" if isinstance(found, Request) else "item"
            known = {kind: found, "response": response, "spider": self.spider}
            hook = f"process_{kind}"
            figures = self._figures_of(one, hook)
            passed = list(
                self._read(one, hook, partial(_alone, getattr(one, hook), known), failures)
            )
            if not passed:
                figures.drops += 1
                return None
            found = passed[0]
        return found

    def _figures_of(self, owner: Any, hook: str) -> HookFigures:
        return self.figures.setdefault((type(owner).__name__, hook), HookFigures())


def results(value: Any) -> Iterator[Any]:
    """Read what a hook returned: None is nothing, and a mapping or a text is one element."""
    if value is None:
        return iter(())
    if isinstance(value, Request | str | bytes | Mapping) or not isinstance(value, Iterable):
        return iter((value,))
    return iter(value)


def succeeded(response: Response, spider: Any) -> bool:
    """2xx is success, and what ``handle_httpstatus_list`` names (the request's before the spider's)."""
    listed = getattr(spider, "handle_httpstatus_list", ())
    listed = response.request.meta.get("handle_httpstatus_list", listed)
    return 200 <= response.status < 300 or response.status in listed


def _alone(hook: Callable[..., Any], known: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Call *hook*, and keep what it returns from being read as several."""
    found = hook(**known)
    return None if found is None else (found,)


def _absolute(href: str, response: Response | None) -> str:
    """Resolve *href*; one that is no URL stays as it is, for the frontier to refuse and count."""
    try:
        return href if response is None else resolve(response.url, href)
    except InvalidURL:
        return href


def _built(one: Any) -> Any:
    """Accept an instance, or what makes one: state then belongs to one crawl."""
    if isinstance(one, SpiderMiddleware):
        return one
    made = one() if callable(one) else one
    if not isinstance(made, SpiderMiddleware):
        raise ValueError(f"a SpiderMiddleware is needed, or what makes one, not {one!r}")
    return made


def _name(function: Any) -> str:
    return getattr(getattr(function, "func", function), "__name__", "callback")
