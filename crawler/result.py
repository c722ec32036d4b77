"""CrawlResult: a crawl that runs or has ended, its items and its errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, Self

import gevent

from ._give_way import give_way
from .buffer import Pool
from .data import Request
from .errors import CrawlerError, PoolClosed, Refused, StateError
from .middleware.spider.chain import SpiderChain
from .scheduler import Scheduler, Status, Summary
from .spider import Spider

log = logging.getLogger(__name__)

#: How many errors a CrawlResult keeps: sites without end have errors without end.
MOST_ERRORS = 1000


class CrawlResult:
    """
    A crawl that runs or has ended.

    Iterating yields the items as they are found; a slow reader slows the crawl down. The
    end of the iteration stops the crawl.
    """

    def __init__(self, spider: Spider, scheduler: Scheduler, chain: SpiderChain) -> None:
        self.spider = spider
        self.scheduler = scheduler
        self.chain = chain
        #: The first errors of the crawl, 1,000 at most; summary.errors counts all, and
        #: scheduler.error_chan() yields all.
        self.errors: list[CrawlerError] = []
        #: Why the crawl ended: finished, stopped, memory_limit, output_closed, disk, failed, refused if no
        #: first request was admitted, or the limit that has cut it off, such as page_limit. Empty
        #: while it runs.
        self.reason = ""
        #: The error that ended the crawl early; None unless fail() was called.
        self.failure: CrawlerError | None = None
        #: The items, if crawl() has collected them.
        self.items: list[Any] = []
        self._items = Pool[tuple[Any]](100, 10)
        self._unread: list[tuple[Any]] = []
        self._main: gevent.Greenlet[..., None] | None = None
        #: The last request of next_request().
        self._next: Request | None = None
        #: Whether a request of next_request() was in vain.
        self._has_warned = False

    def __iter__(self) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._items.get()[0]
                except PoolClosed:
                    break
            while self._unread:
                yield self._unread.pop(0)[0]
        finally:
            self.stop()

    def wait(self) -> Self:
        """Wait until the crawl has ended; raise what its main greenlet raised."""
        if self._main is not None:
            self._main.get()
        return self

    def stop(self, timeout: float = 10.0) -> None:
        """Stop the crawl; the work in flight may finish within *timeout* seconds."""
        self._close_items()
        if self.scheduler.status is Status.STARTED:
            self.reason = self.reason or "stopped"
            try:
                self.scheduler.stop(timeout)
            except StateError:
                log.debug("the crawl has ended before it could be stopped")
        if self._main is not None:
            self._main.join()

    @property
    def summary(self) -> Summary:
        return self.scheduler.summary()

    def fail(self, error: CrawlerError) -> None:
        """Stop the crawl at once: no page can be finished because of *error*."""
        self.failure = error
        self.reason = "failed"
        gevent.spawn(self.stop, 0)

    @property
    def exit_code(self) -> int:
        """
        0: all pages are done, 1: some pages failed, or a start page was answered with a failure, 3: stopped
        early, 4: all first URLs were refused, 6: the job could not be written.
        """
        if self.failure is not None:
            return 6
        if self.reason in {"stopped", "memory_limit", "output_closed", "disk"}:
            return 3
        summary = self.summary
        urls = summary.urls
        if self.reason == "refused" or (urls.refused and not (urls.done or urls.failed)):
            return 4
        return int(bool(urls.failed or summary.unsuccessful_starts))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<CrawlResult of {self.spider!r}, {self.reason or 'running'}, {self.scheduler!r}>"

    def add_item(self, item: Any) -> Any:
        """Pass *item* to the reader, unless the reader has stopped: the last processor of a pipeline."""
        with suppress(PoolClosed):
            self._items.put((item,))
        return item

    def passed(self, added: Any) -> Any:
        """Return a request or item that was added after all hooks; None if one dropped it."""
        if not isinstance(added, Request):
            return self.chain.item(added)
        # What next_request() returns has passed them.
        return added if added is self._next else self.chain.request(added)

    def run(self, first: Iterator[Request], cleanup: ExitStack) -> None:
        """Start the crawl; *cleanup* is closed when it ends, or if it cannot start."""
        try:
            self.scheduler.start(first)
        except BaseException as error:
            self.reason = "refused" if isinstance(error, Refused) else "failed"
            cleanup.close()
            raise
        self._main = gevent.spawn(self._finish, cleanup)

    def _finish(self, cleanup: ExitStack) -> None:
        """Wait until nothing is left to crawl, then stop and close everything."""
        errors = gevent.spawn(self._keep_errors, self.scheduler.error_chan())
        with cleanup:
            while self.scheduler.join() and self.scheduler.status is Status.STARTED:
                more = self.chain.next_request()
                if more is None:
                    break
                self._next = more
                if not self.scheduler.add(more):
                    self._warn_of_refused(more)
            if self.scheduler.status is Status.STARTED:
                self.reason = self.reason or self.summary.reason or "finished"
                self.scheduler.stop()
            self.scheduler.wait(Status.STOPPED)
            self.reason = self.reason or self.summary.reason
            errors.join()
        self._close_items()

    def _warn_of_refused(self, more: Request) -> None:
        """Log once that next_request() returned *more* in vain: it may return the same for ever."""
        if not self._has_warned:
            self._has_warned = True
            log.warning(
                "next_request() returned %s, which is not fetched: a URL that was met before needs "
                "dont_filter=True; None ends the crawl",
                more,
            )
        give_way()

    def _keep_errors(self, errors: Iterator[CrawlerError]) -> None:
        for error in errors:
            if len(self.errors) < MOST_ERRORS:
                self.errors.append(error)

    def _close_items(self) -> None:
        self._unread += self._items.close()
