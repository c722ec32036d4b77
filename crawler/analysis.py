"""Analysis: how a page meets its spider, whichever process they are in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from .data import Response
from .errors import ModuleError
from .middleware.spider import HttpError, SpiderChain, succeeded
from .module import Analyzer
from .spider import Page


def analyzer_of(chain: SpiderChain) -> Analyzer:
    """Return the analyzer that lets the spider of *chain* see pages, and failures."""
    return Analyzer(partial(_parse, chain), recover=partial(_recover, chain))


def _parse(chain: SpiderChain, response: Response) -> Iterator[Any]:
    """Let the spider and its middlewares see a page; one that is no success is an error."""
    page, spider = Page.of(response), chain.spider
    if succeeded(page, spider):
        return chain.response(page, spider.callback(page.request.callback, "parse"))
    return _refuse(chain, page)


def _refuse(chain: SpiderChain, page: Page) -> Iterator[Any]:
    errback = chain.spider.callback(page.request.errback, "errback")
    yield from chain.error(HttpError(page), page.request, errback)
    # Errors are kept to the end of a crawl; the pages that caused them would fill the memory.
    raise HttpError(page.replace(body=b""))


def _recover(chain: SpiderChain, error: ModuleError) -> Iterator[Any]:
    errback = chain.spider.callback(error.request.errback, "errback")
    yield from chain.error(error, error.request, errback)
