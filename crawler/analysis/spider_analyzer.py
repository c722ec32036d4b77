"""The analyzer that passes pages to the callbacks of a spider, in any process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial, update_wrapper
from typing import Any

from gevent.local import local

from ..data import Response
from ..errors import ModuleError
from ..middleware.spider.chain import SpiderChain
from ..middleware.spider.contract import HttpError, succeeded
from ..module import Analyzer
from ..spider import Page


def analyzer_of(chain: SpiderChain) -> Analyzer:
    """Return the analyzer that passes pages and failed downloads to the spider of *chain*."""
    return Analyzer(_CallbackParser(chain, _parse), recover=_CallbackParser(chain, _recover))


class _CallbackParser:
    """
    A parser of an analyzer: it calls the callbacks of the spider of *chain*.

    Errors name a parser by its repr(), which here is the name of the callback at work. A page
    is analysed in one greenlet, so each greenlet has its own name.
    """

    def __init__(
        self, chain: SpiderChain, act: Callable[[_CallbackParser, Any], Iterator[Any]]
    ) -> None:
        self.chain = chain
        self._act = act
        self._at_work = local()

    def __call__(self, origin: Any) -> Iterator[Any]:
        return self._act(self, origin)

    def callback(self, name: str | None, default: str) -> Callable[[Any], Any]:
        spider = self.chain.spider
        self._at_work.name = f"{type(spider).__name__}.{name or default}"
        callback: Callable[[Any], Any] = spider.callback(name, default)
        return callback

    def __repr__(self) -> str:
        return getattr(self._at_work, "name", None) or super().__repr__()


def _parse(parser: _CallbackParser, response: Response) -> Iterator[Any]:
    """Pass a page to the spider and its middlewares; an unsuccessful status is an error."""
    page = Page.of(response)
    if not parser.chain.spider.obeys_nofollow:
        vars(page)["obeys_nofollow"] = False
    if succeeded(page, parser.chain.spider):
        callback = parser.callback(page.request.callback, "parse")
        return parser.chain.response(page, _with_arguments(callback, page.request.cb_kwargs))
    return _refuse(parser, page)


def _with_arguments(
    callback: Callable[..., Any], arguments: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """Return *callback* with keyword *arguments* bound to it, under its own name."""
    return update_wrapper(partial(callback, **arguments), callback) if arguments else callback


def _refuse(parser: _CallbackParser, page: Page) -> Iterator[Any]:
    errback = parser.callback(page.request.errback, "errback")
    yield from parser.chain.error(HttpError(page), page.request, errback)
    # Errors are kept to the end of a crawl; the bodies of their pages would fill the memory.
    raise HttpError(page.replace(body=b""))


def _recover(parser: _CallbackParser, error: ModuleError) -> Iterator[Any]:
    errback = parser.callback(error.request.errback, "errback")
    yield from parser.chain.error(error, error.request, errback)
