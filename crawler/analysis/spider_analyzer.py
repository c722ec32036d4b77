"""Analysis: how a page meets its spider, whichever process they are in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gevent.local import local

from ..data import Response
from ..errors import ModuleError
from ..middleware.spider.chain import SpiderChain
from ..middleware.spider.contract import HttpError, succeeded
from ..module import Analyzer
from ..spider import Page


def analyzer_of(chain: SpiderChain) -> Analyzer:
    """Return the analyzer that lets the spider of *chain* see pages, and failures."""
    return Analyzer(_Part(chain, _parse), recover=_Part(chain, _recover))


class _Part:
    """
    What an analyzer calls, for the spider of *chain*.

    Errors name it as it prints: by the callback at work; one page is analysed in one
    greenlet, so each greenlet sees the name of its own.
    """

    def __init__(self, chain: SpiderChain, act: Callable[[_Part, Any], Iterator[Any]]) -> None:
        self.chain = chain
        self._act = act
        self._at_work = local()

    def __call__(self, origin: Any) -> Iterator[Any]:
        return self._act(self, origin)

    def callback(self, name: str | None, default: str) -> Callable[[Any], Any]:
        spider = self.chain.spider
        self._at_work.name = f"{type(spider).__name__}.{name or default}"
        found: Callable[[Any], Any] = spider.callback(name, default)
        return found

    def __repr__(self) -> str:
        return getattr(self._at_work, "name", None) or super().__repr__()


def _parse(part: _Part, response: Response) -> Iterator[Any]:
    """Let the spider and its middlewares see a page; one that is no success is an error."""
    page = Page.of(response)
    if succeeded(page, part.chain.spider):
        return part.chain.response(page, part.callback(page.request.callback, "parse"))
    return _refuse(part, page)


def _refuse(part: _Part, page: Page) -> Iterator[Any]:
    errback = part.callback(page.request.errback, "errback")
    yield from part.chain.error(HttpError(page), page.request, errback)
    # Errors are kept to the end of a crawl; the pages that caused them would fill the memory.
    raise HttpError(page.replace(body=b""))


def _recover(part: _Part, error: ModuleError) -> Iterator[Any]:
    errback = part.callback(error.request.errback, "errback")
    yield from part.chain.error(error, error.request, errback)
