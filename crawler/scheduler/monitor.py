"""Monitor: reports summaries and errors of a crawl, and stops it when it has finished."""

from __future__ import annotations

import logging
from collections.abc import Callable

import gevent
from gevent.pool import Group

from ..errors import CrawlerError, StateError
from .scheduler import Scheduler
from .status import Status
from .summary import Summary

log = logging.getLogger(__name__)

#: The states in which error_chan() belongs to the coming or current run.
_OPEN = (Status.INITIALIZED, Status.STARTED)


class Monitor:
    """
    Watches one run of *scheduler*, the current or the next one, to its end.

    Every *interval* seconds *on_summary* is called with a summary if anything has changed, and
    at the end with a final one; *on_error* is called with every error. With *auto_stop* a
    crawl that has finished is stopped at once. Without callbacks, both are logged.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        on_summary: Callable[[Summary], object] | None = None,
        on_error: Callable[[CrawlerError], object] | None = None,
        interval: float = 1.0,
        auto_stop: bool = True,
    ) -> None:
        if not isinstance(scheduler, Scheduler):
            raise ValueError(f"a monitor watches a Scheduler, not {scheduler!r}")
        if not interval > 0:
            raise ValueError(f"interval must be more than 0 seconds, not {interval!r}")
        self._scheduler = scheduler
        self._on_summary = on_summary or _log_summary
        self._on_error = on_error or _log_error
        self._interval = interval
        self._auto_stop = auto_stop
        self._last: Summary | None = None
        self._started = False
        self._watching = Group()
        self._errors = scheduler.error_chan() if scheduler.status in _OPEN else None
        self._main = gevent.spawn(self._watch)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the crawl has ended and its last summary is reported; return whether it has."""
        self._main.join(timeout)
        return self._main.ready()

    def cancel(self) -> None:
        """Stop watching; the crawl continues."""
        self._main.kill()
        self._errors = None

    def _watch(self) -> None:
        scheduler = self._scheduler
        try:
            reader = self._watching.spawn(self._read)
            scheduler.wait(Status.STARTED)
            self._started = True
            self._watching.spawn(self._sample)
            final = self._stop() if scheduler.join() and self._auto_stop else None
            # The channel of errors ends when the run is stopped, not before.
            reader.join()
            self._report(final or scheduler.summary())
        finally:
            self._watching.kill()

    def _read(self) -> None:
        """Pass on every error; init() ends one channel of errors and begins another."""
        while True:
            if self._errors is None:
                self._scheduler.wait(*_OPEN)
                self._errors = self._scheduler.error_chan()
            for error in self._errors:
                _call(self._on_error, error)
            self._errors = None
            if self._started:
                return

    def _sample(self) -> None:
        while True:
            gevent.sleep(self._interval)
            summary = self._scheduler.summary()
            if summary != self._last:
                self._report(summary)

    def _report(self, summary: Summary) -> None:
        self._last = summary
        _call(self._on_summary, summary)

    def _stop(self) -> Summary | None:
        try:
            return self._scheduler.stop()
        except StateError:
            log.debug("the scheduler is being stopped by another caller")
            return None


def _call(function: Callable[..., object], value: object) -> None:
    """Call *function*; a callback that fails must not end the watch."""
    try:
        function(value)
    except Exception:
        log.exception("%s failed", function)


def _log_summary(summary: Summary) -> None:
    urls = summary.urls
    log.info("%d done, %d failed, %d pending", urls.done, sum(urls.failed.values()), urls.pending)


def _log_error(error: CrawlerError) -> None:
    log.warning("%s", error)
