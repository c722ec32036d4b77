"""Composition root: a spider and its settings → a wired scheduler. The only file that knows everyone."""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Self

import gevent

from .analysis.processes import remote_analyzers, started
from .analysis.spider_analyzer import analyzer_of
from .analysis.worker.handshake import refuse_in_a_child
from .buffer import Pool
from .data import Request, Response
from .errors import CrawlerError, InvalidURL, PoolClosed, Refused, StateError
from .fetch import CurlFetch
from .job.directory import Job
from .middleware.download.chain import Middlewares
from .middleware.download.contract import DownloadMiddleware
from .middleware.spider.chain import SpiderChain
from .module import Downloader, Pipeline
from .scheduler import Scheduler, Status, Summary
from .settings import Settings
from .spider import Spider, first_requests

log = logging.getLogger(__name__)


class CrawlResult:
    """
    A crawl that is under way or over.

    Iterating gives the items as they come; a crawl waits for whoever reads them slowly.
    Everything else is known at the end, and waits for it.
    """

    def __init__(self, spider: Spider, scheduler: Scheduler, chain: SpiderChain) -> None:
        self.spider = spider
        self.scheduler = scheduler
        self.chain = chain
        #: Every error of the crawl, in order.
        self.errors: list[CrawlerError] = []
        #: Why it ended: finished, stopped, memory_limit, or refused before it began.
        self.reason = ""
        #: What ended the crawl early, if it was not a page's.
        self.failure: CrawlerError | None = None
        #: What crawl() has collected.
        self.items: list[Any] = []
        self._items = Pool[tuple[Any]](100, 10)
        self._left: list[tuple[Any]] = []
        self._main: gevent.Greenlet[..., None] | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._items.get()[0]
                except PoolClosed:
                    break
            while self._left:
                yield self._left.pop(0)[0]
        finally:
            self.stop()

    def wait(self) -> Self:
        """Wait for the end; raise what kept the crawl from beginning, if anything did."""
        if self._main is not None:
            self._main.get()
        return self

    def stop(self, timeout: float = 10.0) -> None:
        """End the crawl, finishing what is in flight within *timeout* seconds."""
        self._close_items()
        if self.scheduler.status is Status.STARTED:
            self.reason = self.reason or "stopped"
            try:
                self.scheduler.stop(timeout)
            except StateError:
                log.debug("the crawl has just ended by itself")
        if self._main is not None:
            self._main.join()

    @property
    def summary(self) -> Summary:
        return self.scheduler.summary()

    def fail(self, error: CrawlerError) -> None:
        """End the crawl at once because of *error*, which stands in the way of all that is left."""
        self.failure = error
        self.reason = "failed"
        gevent.spawn(self.stop, 0)

    @property
    def exit_code(self) -> int:
        """
        0 all good, 1 some pages failed, 3 stopped early, 4 all first URLs were refused,
        6 the job could not be written to.
        """
        if self.failure is not None:
            return 6
        if self.reason in {"stopped", "memory_limit", "output_closed"}:
            return 3
        urls = self.summary.urls
        if self.reason == "refused" or (urls.refused and not (urls.done or urls.failed)):
            return 4
        return int(bool(urls.failed))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<CrawlResult of {self.spider!r}, {self.reason or 'running'}, {self.scheduler!r}>"

    def keep(self, item: Any) -> Any:
        """Hand *item* to whoever iterates, if anybody still does: the last of the processors."""
        with suppress(PoolClosed):
            self._items.put((item,))
        return item

    def run(self, first: Iterator[Request], cleanup: ExitStack) -> None:
        """Begin, and see to it that the crawl ends and everything is closed."""
        try:
            self.scheduler.start(first)
        except BaseException as error:
            self.reason = "refused" if isinstance(error, Refused) else "failed"
            cleanup.close()
            raise
        self._main = gevent.spawn(self._to_the_end, cleanup)

    def _to_the_end(self, cleanup: ExitStack) -> None:
        errors = gevent.spawn(self.errors.extend, self.scheduler.error_chan())
        with cleanup:
            while self.scheduler.join() and self.scheduler.status is Status.STARTED:
                more = self.chain.next_request()
                if more is None:
                    break
                self.scheduler.add(more)
            self.reason = self.reason or self.scheduler.stopped_by or "finished"
            if self.scheduler.status is Status.STARTED:
                self.scheduler.stop()
            self.scheduler.wait(Status.STOPPED)
            errors.join()
        self._close_items()

    def _close_items(self) -> None:
        self._left += self._items.close()


def stream(
    spider: Spider | type[Spider],
    *,
    feeds: Collection[Callable[[Any], Any]] = (),
    middlewares: Collection[Any] = (),
    download_middlewares: Collection[DownloadMiddleware] = (),
    fetch: Callable[[Request], Response] | None = None,
    settings: Settings | None = None,
    job: Job | str | os.PathLike[str] | None = None,
    **code: Any,
) -> CrawlResult:
    """
    Begin to crawl *spider* and return at once: iterate over the result to get its items.

    *middlewares* are above the spider's own. *feeds* are processors that see each item
    before it is handed on. Other keywords are settings: ``stream(Quotes(), delay=0.5)``.

    With a *job*, or the path of its directory, every step is written down, and the crawl
    goes on where the last one in that directory ended, whatever ended it.
    """
    refuse_in_a_child()
    spider = spider() if isinstance(spider, type) else spider
    settings = settings or Settings.load(spider=settings_of(spider), code=code)
    chain = SpiderChain([*middlewares, *spider.middlewares], spider)
    with ExitStack() as cleanup:
        scheduler = Scheduler()
        result = CrawlResult(spider, scheduler, chain)
        # An archive to fetch from may be empty, and is one still.
        fetcher = cleanup.enter_context(settings.fetch()) if fetch is None else fetch
        trust = fetcher.trust if isinstance(fetcher, CurlFetch) else bool
        job = _job(job, cleanup)
        if job is not None:
            fetcher = job.outputs.around(fetcher)
            job.journal.commits.on_failure = result.fail
        downloads = [*download_middlewares, *map(_made, spider.download_middlewares)]
        around = Middlewares(fetcher, downloads)
        cleanup.callback(around.close)
        fetch_one = partial(_fetch_for, scheduler, around)
        remote = remote_analyzers(settings.analyzers, spider, middlewares, fetch_one)
        scheduler.init(
            replace(settings.request_args(), journal=job.journal if job else None),
            settings.data_args(),
            replace(
                settings.module_args(
                    downloaders=[Downloader(around)],
                    analyzers=remote or [analyzer_of(chain)],
                    pipelines=[
                        Pipeline(*feeds, result.keep, keep=job.outputs.keep if job else bool)
                    ],
                ),
                on_stuck=job.on_stuck if job else None,
            ),
        )
        # The crawl lends its spider what only it has.
        spider._fetch = fetch_one  # noqa: SLF001
        spider._waiting = scheduler.waiting  # noqa: SLF001
        _open(chain, cleanup)
        cleanup.enter_context(started(remote, chain))
        if job is not None:
            job.begin(_about(spider, settings))
        result.run(_first(chain, trust), cleanup.pop_all())
    return result


def crawl(spider: Spider | type[Spider], **options: Any) -> CrawlResult:
    """
    Crawl *spider* to the end; ``result.items`` are what it found. Takes what stream() takes.

    May be called any number of times, in a patched program or not.
    """
    result = stream(spider, **options)
    result.items = list(result)
    return result.wait()


def _open(chain: SpiderChain, cleanup: ExitStack) -> None:
    """Open the spider and what is around it; *cleanup* closes what was opened, the last first."""
    chain.spider.open()
    cleanup.callback(chain.spider.close)
    chain.open()
    cleanup.callback(chain.close)


def _job(job: Job | str | os.PathLike[str] | None, cleanup: ExitStack) -> Job | None:
    """Return the job that is meant; one that is opened here is closed by *cleanup*."""
    if job is None or isinstance(job, Job):
        return job
    return cleanup.enter_context(Job(job))


def _fetch_for(scheduler: Scheduler, around: Middlewares, request: Request) -> Response:
    """Fetch within the crawl; before it has begun, for start(), without it."""
    return scheduler.fetch(request) if scheduler.status is Status.STARTED else around(request)


def _first(chain: SpiderChain, trust: Callable[[str], object]) -> Iterator[Request]:
    """
    Yield the first requests that pass the chain; one that fails there costs only itself.

    What the user names may be fetched, wherever it is: of a job that goes on, too.
    """
    for found in first_requests(chain.spider):
        try:
            request = chain.request(found)
        except CrawlerError as error:
            log.warning("first request %s: %s", found, error)
            continue
        if request is not None:
            with suppress(InvalidURL):  # it will be turned away
                trust(request.url)
            yield request


def _about(spider: Spider, settings: Settings) -> dict[str, Any]:
    """Return what a job is about, for people to read."""
    given = {name: values[-1].value for name, values in settings.origins.items()}
    return {
        "spider": spider.name,
        "start_urls": [*spider.start_urls],
        "settings": given,
        "source": _source_of(spider),
    }


def _source_of(spider: Spider) -> str:
    """Return what stands for the text of the spider, to tell if it has changed; "" if unknown."""
    try:
        text = inspect.getsource(type(spider))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def settings_of(spider: Spider) -> dict[str, Any]:
    """Return the settings a spider brings: its mapping, and what has an attribute of its own."""
    own: dict[str, Any] = {"depth": spider.max_depth}
    domains = [*spider.accepted_domains, *spider.allowed_domains]
    if domains:
        own["domains"] = domains
    return own | dict(spider.settings)


def _made(one: Any) -> DownloadMiddleware:
    return one if isinstance(one, DownloadMiddleware) else one()
