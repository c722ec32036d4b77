"""Spider: what to begin with, and what to do with each page."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..data import Request, Response
from ..errors import CrawlerError, StateError
from .page import Page


class Spider:
    """
    Subclass it, say where to start, and yield what you find.

        class Quotes(Spider):
            start_urls = ["https://quotes.example/"]

            def parse(self, page):
                for quote in page.css("div.quote"):
                    yield {"text": quote.css("span.text::text").get()}
                yield from page.follow_all(css="li.next a")

    A callback may yield requests, URLs, and items: mappings, dataclasses, attrs and pydantic
    objects. Keyword arguments become attributes, as ``-a name=value`` does.
    """

    name: str = ""
    #: One URL alone may stand here without a list around it.
    start_urls: Collection[str] = ()
    #: Domains to stay in; those of the first requests are accepted in any case.
    accepted_domains: Collection[str] = ()
    #: The same, by the name it has elsewhere.
    allowed_domains: Collection[str] = ()
    max_depth: int | None = None
    #: Spider middlewares of its own, below those of the crawl; classes, or what makes one.
    middlewares: Collection[Any] = ()
    download_middlewares: Collection[Any] = ()
    settings: Mapping[str, Any] = {}
    handle_httpstatus_list: Collection[int] = ()

    # What a crawl lends to its spider; here, so that an __init__ of one's own need not care.
    _fetch: Callable[[Request], Response] | None = None
    _waiting: Callable[[], AbstractContextManager[None]] = staticmethod(nullcontext)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if getattr(cls, "custom_settings", None):
            raise ValueError(
                f"{cls.__name__} has custom_settings, which nothing here reads: call them "
                "settings, by the names that `crawler settings` lists (delay, not DOWNLOAD_DELAY)"
            )

    def __init__(self, **arguments: Any) -> None:
        self.name = self.name or type(self).__name__.lower()
        for name, value in arguments.items():
            setattr(self, name, value)
        if isinstance(self.start_urls, str):
            self.start_urls = (self.start_urls,)

    def start(self) -> Iterable[Request | str] | AsyncIterator[Request | str]:
        """Return or yield the first requests."""
        return self.start_urls

    def parse(self, response: Page) -> Any:  # noqa: ARG002
        """Yield what is found in a page; requests may name another callback."""
        if self.middlewares:
            return None  # they may do it all
        raise NotImplementedError(f"{type(self).__name__} needs a method parse(self, response)")

    def errback(self, error: CrawlerError) -> Any:  # noqa: ARG002
        """Yield what is to be done about a page that could not be had; by default nothing."""
        return None

    def open(self) -> None:
        """Get ready, before the first request."""

    def close(self) -> None:
        """Let go; called at the end, whatever happened."""

    def fetch(self, url: str | Request, **fields: Any) -> Page:
        """
        Fetch one more page now, and wait for it: only this callback waits.

        It passes the same middlewares, robots.txt and delays as any other, and is not held
        against what was seen before unless ``dont_filter=False`` is given.
        """
        if self._fetch is None:
            raise StateError("fetch() works while the spider is being crawled")
        request = (
            url.replace(**fields)
            if isinstance(url, Request)
            else Request(url, **({"dont_filter": True} | fields))
        )
        return Page.of(self._fetch(request))

    def waiting(self) -> AbstractContextManager[None]:
        """Enter it to wait for what another callback does: the crawl goes on meanwhile."""
        return self._waiting()

    @property
    def logger(self) -> logging.Logger:
        return logging.getLogger(f"spider.{self.name}")

    def log(self, message: str, level: int = logging.DEBUG) -> None:
        self.logger.log(level, message)

    def callback(self, name: str | None, default: str) -> Callable[[Any], Any]:
        """Return the method a request names; nothing else can be named."""
        wanted = name or default
        method = getattr(type(self), wanted, None) if not wanted.startswith("__") else None
        if not callable(method):
            raise ValueError(f"{type(self).__name__} has no callback {wanted!r}")
        return getattr(self, wanted)  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy gets: not what a crawl has lent."""
        return {name: value for name, value in vars(self).items() if name not in _LENT}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


_LENT = ("_fetch", "_waiting")


def first_requests(spider: Spider) -> Iterator[Request | str]:
    """Yield what the spider begins with, however it says so."""
    begin = getattr(spider, "start_requests", spider.start)
    found = begin()
    if isinstance(found, str):
        yield found
    elif isinstance(found, AsyncIterator):
        yield from _driven(found)
    else:
        yield from found


def _driven(found: AsyncIterator[Any]) -> Iterator[Any]:
    """Read an ``async def`` generator that awaits nothing."""
    while True:
        step = anext(found)
        try:
            step.__await__().send(None)
        except StopIteration as result:
            yield result.value
        except StopAsyncIteration:
            return
        else:
            raise ValueError("start() cannot await anything: greenlets wait without it")
