"""SpiderChain: passes responses down to a spider, and what it finds up to the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from types import GeneratorType
from typing import Any

from ..._give_way import give_way
from ...data import Links, LostItem, Request, Response, new_id
from ...errors import ModuleError
from ...spider.callback_results import results
from ...url import resolve_or_keep
from .contract import SpiderMiddleware
from .hooks import FAILURES, Failures, Hook, HookFigures

log = logging.getLogger(__name__)

#: The reason of a request that a spider middleware has dropped.
DROPPED = "middleware"

#: The hooks that a middleware may override.
_HOOKS = tuple(
    name
    for name, value in vars(SpiderMiddleware).items()
    if callable(value) and not name.startswith("_")
)


class SpiderChain:
    """
    The middlewares of one crawl, in order, around one spider.

    An exception in a hook costs only what that hook would have returned, or the one element that
    it was given. Everything else goes on; at the end the page is reported as failed. *figures*
    has an entry for each hook that is overridden, by the names of middleware and hook.
    """

    def __init__(self, middlewares: Iterable[Any], spider: Any) -> None:
        self.spider = spider
        self.middlewares = [_built(given) for given in middlewares]
        self.names = _distinct([type(middleware).__name__ for middleware in self.middlewares])
        self.figures: dict[tuple[str, str], HookFigures] = {}
        self._parts = [
            {
                hook: self._hook(name, hook, getattr(middleware, hook))
                for hook in _overridden(middleware)
            }
            for name, middleware in zip(self.names, self.middlewares, strict=True)
        ]
        self._up_hooks = {
            kind: [part[hook] for part in reversed(self._parts) if hook in part]
            for kind, hook in (("request", "process_request"), ("item", "process_item"))
        }
        #: The hooks downwards that no middleware overrides, if none overrides a hook upwards.
        self._plain = {
            hook
            for hook in ("process_response", "process_error")
            if not any(self._up_hooks.values()) and not any(hook in part for part in self._parts)
        }
        if any(one.handle_httpstatus_list for one in self.middlewares):
            self._plain.discard("process_error")
        self._next_requests = [
            (part["next_request"], {"spider": spider})
            for part in self._parts
            if "next_request" in part
        ]
        if own := getattr(spider, "next_request", None):
            self._next_requests.append((self._hook(type(spider).__name__, "next_request", own), {}))
        self._opened = ExitStack()
        #: Whether to time a spider that has no middlewares, too.
        self.timed = False

    def response(self, response: Response, callback: Callable[[Response], Any]) -> Iterator[Any]:
        """
        Yield the requests and items found in *response*; at the end, raise what failed.

        For an item that a hook dropped or failed on, a LostItem is yielded; for such a request,
        Links that are only counted.
        """
        if "process_response" in self._plain and not self.timed:
            return self._straight(callback, response)
        known = {"response": response, "request": response.request, "spider": self.spider}
        return self._flow("process_response", known, partial(callback, response), response)

    def error(
        self, error: Exception, request: Request, errback: Callable[[Any], Any]
    ) -> Iterator[Any]:
        """Yield the requests and items made for *error*; at the end, raise what failed."""
        if "process_error" in self._plain and not self.timed:
            return self._straight(errback, error)
        known = {"error": error, "request": request, "spider": self.spider}
        response = getattr(error, "response", None)
        return self._flow("process_error", known, partial(errback, error), response)

    def any_error(self, error: ModuleError) -> Iterator[Request]:
        """Yield the requests that the spider makes for an error of any stage, after all hooks."""
        page = error.request.url, error.request.next_depth
        for found in results(self.spider.on_error(error)):
            if not isinstance(found, Request | str):
                raise ValueError(f"on_error() may yield requests and URLs, not {found!r:.200}")
            fresh = _request(found, *page).replace(
                found_on=page[0], redirects=(), attempts=(), id=new_id()
            )
            passed = self.request(fresh)
            if passed is not None:
                yield passed

    def request(self, request: Request | str) -> Request | None:
        """Return a first request after all hooks; None if one dropped it. Raises what failed."""
        failures = Failures()
        first = Request(request) if isinstance(request, str) else request
        passed: Request | None = self._up(first, None, None, failures)
        failures.raise_any()
        return passed

    def item(self, item: Any) -> Any:
        """Return an item of no page after all hooks; None if one dropped it. Raises what failed."""
        failures = Failures()
        passed = self._up(item, None, None, failures)
        failures.raise_any()
        return None if isinstance(passed, LostItem) else passed

    def next_request(self) -> Request | None:
        """
        Return one more request: the first that a middleware, from the top, or the spider returns.

        If that request is dropped on its way up, all are asked again.
        """
        while (found := self._ask_for_more()) is not None:
            try:
                passed = self.request(found)
            except Exception:
                log.exception("%s could not be passed on", found)
            else:
                if passed is not None:
                    return passed
            give_way()
        return None

    def open(self) -> None:
        """Open all middlewares in order; if one fails, close those that are open."""
        try:
            for part in self._parts:
                if "open_spider" in part:
                    part["open_spider"].call(spider=self.spider)
                if "close_spider" in part:
                    self._opened.callback(self._close, part["close_spider"])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the open middlewares in reverse order, even if some of them fail."""
        self._opened.close()

    def _close(self, hook: Hook) -> None:
        try:
            hook.call(spider=self.spider)
        except FAILURES:
            log.exception("%s failed", hook.name)

    def _straight(self, callback: Callable[[Any], Any], datum: Any) -> Iterator[Any]:
        """
        Do the same as _flow() for a callback without middlewares, untimed.

        Many crawls have no middlewares, and _flow() costs time for every link. None is not
        filtered out here: the analyzer skips it.
        """
        figures = self._figures(type(self.spider).__name__, _name(callback))
        figures.calls += 1
        try:
            given = callback(datum)
            yield from given if type(given) is GeneratorType else results(given)
        except FAILURES:
            figures.failures += 1
            raise

    def _flow(
        self,
        hook: str,
        known: Mapping[str, Any],
        last: partial[Any],
        response: Response | None,
    ) -> Iterator[Any]:
        own = self._hook(type(self.spider).__name__, _name(last.func), last, of_spider=True)
        given = [(part[hook], known) for part in self._parts if hook in part]
        if hook == "process_error" and response is not None:
            given = [*self._wanting(response), *given]
        failures = Failures()
        request: Request = known["request"]
        place = request.url if response is None else response.url, request.next_depth
        for source, arguments in (*given, (own, {})):
            for found in source.results(arguments, failures):
                passed = self._up(found, place, response, failures)
                if passed is not None:
                    yield passed
        failures.raise_any()

    def _wanting(self, response: Response) -> Iterator[tuple[Hook, Mapping[str, Any]]]:
        """Yield process_response() of the middlewares that want *response* though it failed."""
        known = {"response": response, "request": response.request, "spider": self.spider}
        for middleware, part in zip(self.middlewares, self._parts, strict=True):
            if response.status in middleware.handle_httpstatus_list and "process_response" in part:
                yield part["process_response"], known

    def _up(
        self,
        found: Any,
        place: tuple[str, int] | None,
        response: Response | None,
        failures: Failures,
    ) -> Any:
        """
        Return one element after all hooks between spider and engine.

        *place* is the page on which it was found, and the depth of the requests found there. One
        that was lost on the way is a LostItem, or Links with a refusal; None if it has no page.
        """
        kind = "request" if isinstance(found, Request | str) else "item"
        hooks = self._up_hooks[kind]
        if hooks and place is not None and kind == "request":
            found = _request(found, *place)
        for hook in hooks:
            known = {kind: found, "response": response, "spider": self.spider}
            before = failures.number
            passed = hook.passed(kind, known, failures)
            if passed is None:
                failed = failures.number > before
                return LostItem(failed) if kind == "item" else _lost(found, place)
            found = passed
        return found

    def _ask_for_more(self) -> Request | str | None:
        for hook, known in self._next_requests:
            try:
                found = _next(hook, known)
            except FAILURES:
                log.exception("%s failed", hook.name)
            else:
                if found is not None:
                    return found
        return None

    def _hook(
        self, owner: str, hook: str, function: Callable[..., Any], *, of_spider: bool = False
    ) -> Hook:
        figures = self._figures(owner, hook)
        return Hook(f"{owner}.{hook}", function, figures, of_spider)

    def _figures(self, owner: str, hook: str) -> HookFigures:
        figures = self.figures.get((owner, hook))
        if figures is None:
            figures = self.figures[owner, hook] = HookFigures()
        return figures

    def __repr__(self) -> str:
        names = "".join(f"{name} → " for name in self.names)
        return f"<SpiderChain engine → {names}{self.spider!r}>"


def _request(found: Request | str, page: str, depth: int) -> Request:
    """Return what was found on *page* as a request with its *depth*, as hooks expect to see it."""
    if isinstance(found, str):
        return Request(resolve_or_keep(page, found), depth=depth, found_on=page)
    return found if found.depth == depth else found.replace(depth=depth)


def _next(hook: Hook, known: Mapping[str, Any]) -> Request | str | None:
    found = hook.call(**known)
    if found is None or isinstance(found, Request | str):
        return found
    raise ValueError(f"it may return a request, a URL or None, not {found!r:.200}")


def _lost(request: Request, place: tuple[str, int] | None) -> Links | None:
    if place is None:
        return None
    page, depth = place
    return Links([request.url], depth, page, DROPPED)


def _built(given: Any) -> SpiderMiddleware:
    """Return *given*; call a class or factory, so that the state belongs to one crawl."""
    if isinstance(given, SpiderMiddleware):
        return given
    made = given() if callable(given) else given
    if not isinstance(made, SpiderMiddleware):
        raise ValueError(
            "a spider middleware is a subclass of SpiderMiddleware, an instance or a factory of one, "
            f"with hooks such as process_item, not {given!r:.200}"
        )
    return made


def _overridden(middleware: SpiderMiddleware) -> list[str]:
    """Return the names of the hooks that *middleware* overrides."""
    return [
        hook
        for hook in _HOOKS
        if getattr(getattr(middleware, hook), "__func__", None)
        is not getattr(SpiderMiddleware, hook)
    ]


def _distinct(names: list[str]) -> list[str]:
    """Number the names that occur again: Tag, Tag#2."""
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [
        name if count == 1 else f"{name}#{count}" for name, count in zip(names, counts, strict=True)
    ]


def _name(function: Any) -> str:
    return getattr(function, "__name__", "callback")
