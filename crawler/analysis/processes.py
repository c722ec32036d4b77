"""The parent's side of the processes that analyse the pages of a crawl."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import gevent

from ..data import Request, Response
from ..middleware.spider.chain import SpiderChain
from ..middleware.spider.hooks import HookFigures
from ..module import MID, Address, RemoteAnalyzer
from ..module.mid import LOCAL
from ..module.remote.child_process import ChildProcess
from ..spider import Spider
from .worker.handshake import command, greeting


def remote_analyzers(
    number: int,
    spider: Spider,
    middlewares: Collection[Any],
    fetch: Callable[[Request], Response],
) -> list[RemoteAnalyzer]:
    """Return *number* analyzers for *spider*, as it is now; *middlewares* are the crawl's."""
    if not number:
        return []
    frame = greeting(spider, middlewares)
    connect = partial(ChildProcess, command())
    return [
        RemoteAnalyzer(connect, frame, fetch, mid=MID("A", n, Address(LOCAL, n)))
        for n in range(1, number + 1)
    ]


@contextmanager
def started(analyzers: Sequence[RemoteAnalyzer], chain: SpiderChain) -> Iterator[None]:
    """Run all processes inside; at the end, add the figures of their hooks to those of *chain*."""
    try:
        _for_all(RemoteAnalyzer.start, analyzers)
        yield
    finally:
        for last in _for_all(RemoteAnalyzer.close, analyzers):
            for owner, hook, figures in last.get("figures", ()):
                _add(figures, chain.figures.setdefault((owner, hook), HookFigures()))


def _for_all(do: Callable[[RemoteAnalyzer], Any], analyzers: Sequence[RemoteAnalyzer]) -> list[Any]:
    """Call *do* for all at the same time; when all have ended, raise the first error if any."""
    calls = [gevent.spawn(_result_or_error, do, one) for one in analyzers]
    ended = [call.get() for call in calls]
    for _, error in ended:
        if error is not None:
            raise error
    return [result for result, _ in ended]


def _result_or_error(do: Callable[[RemoteAnalyzer], Any], one: RemoteAnalyzer) -> tuple[Any, Any]:
    try:
        return do(one), None
    except Exception as error:
        return None, error


def _add(more: Mapping[str, Any], figures: HookFigures) -> None:
    for name, value in more.items():
        setattr(figures, name, getattr(figures, name) + value)
