"""Router: a spider whose callbacks are functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from .page import Page
from .spider import Spider

F = TypeVar("F", bound=Callable[[Page], Any])


class Router(Spider):
    """
    A spider for scripts: functions instead of methods, chosen by the URL of the page.

        app = Router("https://shop.example/")

        @app.page(r"/product/")
        def product(page):
            yield {"title": page.title}

        @app.page()
        def everything_else(page):
            yield from page.links()

        crawl(app)

    The page goes to the first function whose pattern is found in its URL.
    """

    name = "router"

    def __init__(self, *start_urls: str, **arguments: Any) -> None:
        super().__init__(start_urls=start_urls, **arguments)
        self._routes: list[tuple[re.Pattern[str], Callable[[Page], Any]]] = []
        self._on_error: Callable[[Any], Any] | None = None

    def page(self, pattern: str = "") -> Callable[[F], F]:
        """Decorate the function for the pages in whose URL *pattern* is found."""
        compiled = re.compile(pattern)

        def keep(function: F) -> F:
            self._routes.append((compiled, function))
            return function

        return keep

    def error(self, function: F) -> F:
        """Decorate the function for errors."""
        self._on_error = function
        return function

    def parse(self, response: Page) -> Any:
        for pattern, function in self._routes:
            if pattern.search(response.url):
                return function(response)
        return None

    def errback(self, error: Any) -> Any:
        return self._on_error(error) if self._on_error is not None else None

    @property
    def routes(self) -> Collection[str]:
        return [f"{pattern.pattern or 'everything'} → {f.__name__}" for pattern, f in self._routes]
