"""Spider: where a crawl starts, and what to do with each page."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ..data import Request, Response
from ..errors import CrawlerError, ModuleError, StateError
from .callback_results import driven
from .own_settings import OwnSettings
from .page import Page


class _Start:
    """The URLs to start from, also for ``async for request in super().start()``."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._urls = [urls] if isinstance(urls, str) else urls

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    async def __aiter__(self) -> AsyncIterator[Request]:
        for url in self._urls:
            yield Request(url)


class Spider:
    """
    Subclass it, set the URLs to start from, and yield items and requests from parse().

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
    #: A single URL may be given without a list.
    start_urls: Collection[str] = ()
    #: Domains to stay in, or a single one; those of the first requests are always accepted.
    accepted_domains: Collection[str] = ()
    #: The same, under the name that Scrapy uses.
    allowed_domains: Collection[str] = ()
    max_depth: int | None = None
    #: Spider middlewares of this spider, below those of the crawl; instances, classes or factories.
    middlewares: Collection[Any] = ()
    download_middlewares: Collection[Any] = ()
    #: What is done to each item, in order: functions of an item, or see ItemPipelines.
    pipelines: Collection[Any] = ()
    settings: Mapping[str, Any] = OwnSettings()
    handle_httpstatus_list: Collection[int] = ()
    #: Whether links() leaves out what pages ask not to follow; the crawl sets it to its setting.
    obeys_nofollow: bool = True

    #: The directory of the job that the crawl works in; None without one. The crawl sets it.
    job_path: Path | None = None

    # Set by the crawl. They have defaults here, so that a subclass need not call our __init__.
    _fetch: Callable[[Request], Response] | None = None
    _waiting: Callable[[], AbstractContextManager[None]] = staticmethod(nullcontext)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if getattr(cls, "custom_settings", None):
            raise ValueError(
                f"{cls.__name__} has custom_settings, which nothing here reads: call them "
                "settings; then each name that differs is answered with ours (DOWNLOAD_DELAY: delay)"
            )
        if isinstance(given := vars(cls).get("settings"), dict):
            cls.settings = OwnSettings(given)
        _check_attributes(cls)

    def __init__(self, **arguments: Any) -> None:
        self.name = self.name or type(self).__name__.lower()
        for name, value in arguments.items():
            setattr(self, name, value)
        if isinstance(self.start_urls, str):
            self.start_urls = (self.start_urls,)

    def start(self) -> Iterable[Request | str] | AsyncIterator[Request | str]:
        """Return or yield the first requests."""
        return _Start(self.start_urls)

    def parse(self, response: Page) -> Any:  # noqa: ARG002
        """Yield the items and requests found in a page; requests may name another callback."""
        if self.middlewares:
            return None  # the middlewares may find everything
        raise NotImplementedError(f"{type(self).__name__} needs a method parse(self, response)")

    def errback(self, error: CrawlerError) -> Any:  # noqa: ARG002
        """Yield items and requests for a page that could not be fetched; by default none."""
        return None

    def on_error(self, error: ModuleError) -> Any:  # noqa: ARG002
        """
        Yield requests for an error of any stage: download, callback or pipeline.

        It is called for every error, after an errback was. It must not wait for long: it has no
        time limit.
        """
        return None

    def open(self) -> None:
        """Prepare; called before the first request."""

    def close(self) -> None:
        """Release resources; called at the end, even of a crawl that failed."""

    def fetch(self, url: str | Request, **fields: Any) -> Page:
        """
        Fetch a page now and wait for it: only this callback waits.

        The request passes the same middlewares, robots.txt and delays as any other. It is fetched
        even if its URL was seen before, unless ``dont_filter=False`` is given.
        """
        if self._fetch is None:
            raise StateError("fetch() works only while the spider is being crawled")
        request = (
            url.replace(**fields)
            if isinstance(url, Request)
            else Request(url, **({"dont_filter": True} | fields))
        )
        return Page.of(self._fetch(request))

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context in which to wait for another callback: the crawl goes on meanwhile."""
        return self._waiting()

    @property
    def logger(self) -> logging.Logger:
        return logging.getLogger(f"spider.{self.name}")

    def log(self, message: str, level: int = logging.DEBUG) -> None:
        self.logger.log(level, message)

    def callback(self, name: str | None, default: str) -> Callable[[Any], Any]:
        """Return the method that a request names; only methods of the class can be named."""
        wanted = name or default
        method = getattr(type(self), wanted, None) if not wanted.startswith("__") else None
        if not callable(method):
            raise ValueError(
                f"{type(self).__name__} has no callback {wanted!r}{self._like(wanted)}"
            )
        return getattr(self, wanted)  # type: ignore[no-any-return]

    def _like(self, misspelt: str) -> str:
        """Return the question whether a method with a similar name is meant, if there is one."""
        from difflib import get_close_matches  # noqa: PLC0415 - needed only for a misspelt name

        near = get_close_matches(misspelt, (name for name in dir(self) if name[0] != "_"), 1)
        return f": did you mean {near[0]!r}?" if near else ""

    def __getattr__(self, name: str) -> Any:
        """Explain what is used instead of an attribute that Scrapy sets, and this crawl does not."""
        instead = f"; {_NOT_SET[name]}" if name in _NOT_SET else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{instead}")

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy gets: all attributes except those that a crawl sets."""
        return {name: value for name, value in vars(self).items() if name not in _LENT}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


_LENT = ("_fetch", "_waiting", "job_path")
#: Attributes that Scrapy sets, and what to use instead.
_NOT_SET = {
    "crawler": "arguments (-a) are attributes, self.fetch() fetches, crawl(…).summary has the figures",
    "state": "a job keeps URLs, items and cookies: write other state to a file in self.job_path",
}


_LISTS = ("download_middlewares", "handle_httpstatus_list", "middlewares", "pipelines")


def _check_attributes(kind: type[Spider]) -> None:
    """Raise ValueError if *kind* has no list where one is needed."""
    for name in _LISTS:
        if isinstance(given := getattr(kind, name), Mapping):
            raise ValueError(f"{kind.__name__}.{name} is a list in its order: {[*given]!r:.200}")
        if given is None or isinstance(given, str | int):
            instead = [] if given is None else [given]
            raise ValueError(f"{kind.__name__}.{name} is a list: write {instead!r:.200}")
    if kind.settings is None:
        raise ValueError(f"{kind.__name__}.settings is a dict of settings by name, not None")


def first_requests(spider: Spider) -> Iterator[Request | str]:
    """Yield the first requests of *spider*, from start_requests() or start(), async or not."""
    begin = getattr(spider, "start_requests", spider.start)
    found = begin()
    if isinstance(found, str):
        found = [found]
    for first in driven(found) if isinstance(found, AsyncIterator) else found:
        if not isinstance(first, Request | str):
            raise ValueError(
                f"{begin.__qualname__}() may yield requests and URLs, not {first!r:.200}: items come "
                "from callbacks, because a job that continues starts again"
            )
        yield first


def named_urls(spider: Spider) -> list[str]:
    """Return the URLs in start_urls; an iterator is left to start()."""
    given = spider.start_urls
    if isinstance(given, str):
        return [given]
    return [url for url in given if isinstance(url, str)] if isinstance(given, Collection) else []
