"""The analyzers of a crawl that are in children: as many as wanted, all alike."""

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
from .worker.handshake import command, introduction


def remote_analyzers(
    number: int,
    spider: Spider,
    middlewares: Collection[Any],
    fetch: Callable[[Request], Response],
) -> list[RemoteAnalyzer]:
    """Return analyzers for *spider*, as it is now; *middlewares* are those of the crawl."""
    if not number:
        return []
    told = introduction(spider, middlewares)
    connect = partial(ChildProcess, command())
    return [
        RemoteAnalyzer(connect, told, fetch, mid=MID("A", n, Address(LOCAL, n)))
        for n in range(1, number + 1)
    ]


@contextmanager
def started(analyzers: Sequence[RemoteAnalyzer], chain: SpiderChain) -> Iterator[None]:
    """Have all children while inside; what their hooks did is in the figures of *chain* then."""
    try:
        _all(RemoteAnalyzer.start, analyzers)
        yield
    finally:
        for last in _all(RemoteAnalyzer.close, analyzers):
            for owner, hook, figures in last.get("figures", ()):
                _add(figures, chain.figures.setdefault((owner, hook), HookFigures()))


def _all(do: Callable[[RemoteAnalyzer], Any], analyzers: Sequence[RemoteAnalyzer]) -> list[Any]:
    """Do it to all at a time; raise what one raised when all have ended."""
    doing = [gevent.spawn(_tried, do, one) for one in analyzers]
    done = [one.get() for one in doing]
    for _, error in done:
        if error is not None:
            raise error
    return [result for result, _ in done]


def _tried(do: Callable[[RemoteAnalyzer], Any], one: RemoteAnalyzer) -> tuple[Any, Any]:
    try:
        return do(one), None
    except Exception as error:
        return None, error


def _add(more: Mapping[str, Any], figures: HookFigures) -> None:
    for name, value in more.items():
        setattr(figures, name, getattr(figures, name) + value)
