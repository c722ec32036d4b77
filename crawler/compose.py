"""The composition root: stream() and crawl() make a wired Scheduler of a spider and its settings."""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from . import url as urls
from .analysis.processes import remote_analyzers, started
from .analysis.spider_analyzer import analyzer_of
from .analysis.worker.handshake import refuse_in_a_worker
from .body_file import saved
from .credentials import hide_passwords, without_credentials
from .data import Request, Response
from .errors import CrawlerError
from .job.contract import CrawlJob
from .job.directory import Job
from .middleware.download.chain import Middlewares
from .middleware.download.contract import DownloadMiddleware
from .middleware.download.cookies import Cookies
from .middleware.download.digest_auth import DigestAuth
from .middleware.download.headers import DefaultHeaders
from .middleware.download.proxies import DefaultProxy
from .middleware.download.referer import Referer
from .middleware.spider.chain import DROPPED, SpiderChain
from .module import Analyzer, Downloader, Pipeline
from .result import CrawlResult
from .scheduler import Scheduler, Status
from .settings import Settings
from .spider import ItemPipelines, Spider, first_requests, ignored_names, named_urls

log = logging.getLogger(__name__)

Fetch = Callable[[Request], Response]


def stream(
    spider: Spider | type[Spider],
    *,
    feeds: Collection[Callable[[Any], Any]] = (),
    middlewares: Collection[Any] = (),
    download_middlewares: Collection[DownloadMiddleware] = (),
    fetch: Fetch | None = None,
    settings: Settings | None = None,
    job: CrawlJob | str | os.PathLike[str] | None = None,
    **code: Any,
) -> CrawlResult:
    """
    Start to crawl *spider* and return at once: iterate over the result to get the items.

    *middlewares* come before those of the spider. *feeds* are processors that see each item
    after the pipelines of the spider, before it is yielded. Other keywords are settings: ``stream(Quotes(), delay=0.5)``.

    With a *job*, or the path of its directory, every step is recorded there, and the crawl
    continues where the last one in that directory ended, whatever ended it.
    """
    refuse_in_a_worker()
    spider, settings = _prepared(spider, settings, code)
    chain = SpiderChain([*middlewares, *spider.middlewares], spider)
    pipelines = ItemPipelines([*settings.pipelines, *spider.pipelines], spider)
    result = CrawlResult(spider, Scheduler(), chain)
    with ExitStack() as cleanup:
        # A `fetch` that reads an archive may have a length of 0: compare it with None.
        client = cleanup.enter_context(settings.fetch()) if fetch is None else fetch
        job = _open_job(job, cleanup)
        given = (*download_middlewares, *map(_instance, spider.download_middlewares))
        around = _middlewares(given, settings, job)
        download = Middlewares(client if job is None else job.outputs.around(client), around)
        cleanup.callback(download.close)
        first = _FirstRequests(chain, partial(_fetch_aside, download, job))
        fetch_one = _callback_fetch(result.scheduler, first, job)
        remote = remote_analyzers(settings.analyzers, spider, middlewares, fetch_one)
        analyzers: Sequence[Analyzer] = remote or [analyzer_of(chain)]
        downloader = Downloader(download, receiving=getattr(client, "receiving", int))
        processors = [*pipelines.processors, *feeds]
        _init_scheduler(result, settings, job, downloader, analyzers, processors)
        spider.job_path = job.path if isinstance(job, Job) else None
        _open_spider(result, pipelines, fetch_one, cleanup)
        cleanup.enter_context(started(remote, chain))
        if job is not None:
            job.begin(_description(spider, settings))
        result.run(iter(first), cleanup.pop_all())
        for url in first.dropped:
            result.scheduler.turn_away(url, DROPPED)
    return result


def crawl(spider: Spider | type[Spider], **options: Any) -> CrawlResult:
    """
    Crawl *spider* to the end; ``result.items`` are its items. Takes the arguments of stream().

    May be called any number of times, in a program that is monkey-patched or not.
    """
    result = stream(spider, **options)
    result.items = list(result)
    return result.wait()


def findings(spider: Spider, response: Response, callback: str = "parse") -> Iterator[Any]:
    """Yield what a callback of *spider* finds in one page: Request, Links and Item objects."""
    page = response.replace(request=response.request.replace(callback=callback))
    yield from analyzer_of(SpiderChain(spider.middlewares, spider)).analyze(page)


def _prepared(
    spider: object, settings: Settings | None, code: Mapping[str, Any]
) -> tuple[Spider, Settings]:
    """Return an instance of *spider* and its settings; warn of names that nothing uses."""
    spider = _instance_of(spider)
    _warn_of_ignored([spider])
    settings = settings or Settings.load(spider=settings_of(spider), code=code)
    if settings.nofollow != spider.obeys_nofollow:
        spider.obeys_nofollow = settings.nofollow
    return spider, settings


def _warn_of_ignored(parts: Iterable[object]) -> None:
    for part in parts:
        for sentence in ignored_names(part):
            log.warning("%s", sentence)


def _instance_of(spider: object) -> Spider:
    """Return *spider*, or an instance of it; raise ValueError if it is neither."""
    if isinstance(spider, Spider):
        return spider
    if isinstance(spider, type) and issubclass(spider, Spider):
        return spider()
    raise ValueError(
        f"a Spider, or a subclass of Spider, can be crawled, not {spider!r:.200}; for the pages "
        "below a URL: from crawler.spider import PageSpider; crawl(PageSpider(start_urls=[url]))"
    )


def settings_of(spider: Spider) -> dict[str, Any]:
    """Return the settings of *spider*: its mapping, and those that are attributes of a spider."""
    own: dict[str, Any] = {"depth": spider.max_depth}
    given = spider.accepted_domains, spider.allowed_domains
    domains = [name for names in given for name in ([names] if isinstance(names, str) else names)]
    if domains:
        own["domains"] = domains
    return own | dict(spider.settings)


def _open_job(job: CrawlJob | str | os.PathLike[str] | None, cleanup: ExitStack) -> CrawlJob | None:
    """Return *job*; if a path is given, open the job, and let *cleanup* close it."""
    if isinstance(job, str | os.PathLike):
        return cleanup.enter_context(Job(job))
    return job


def _middlewares(
    given: Collection[DownloadMiddleware], settings: Settings, job: CrawlJob | None
) -> list[DownloadMiddleware]:
    """Return the middlewares around each download: those *given*, and what *settings* ask for."""
    _warn_of_ignored(given)
    referer = [Referer(settings.referer)] if settings.referer != "no" else []
    return _with_cookies([*given, *_set_by(settings), *referer], settings, job)


def _with_cookies(
    middlewares: list[DownloadMiddleware], settings: Settings, job: CrawlJob | None
) -> list[DownloadMiddleware]:
    """Add cookies as the innermost middleware, unless there are some; *job* keeps them."""
    cookies = next((one for one in middlewares if isinstance(one, Cookies)), None)
    if cookies is None and settings.cookies:
        cookies = Cookies()
        middlewares = [*middlewares, cookies]
    if cookies is not None and job is not None:
        job.keep_cookies(cookies)
    return middlewares


def fetch_with(client: Fetch, settings: Settings) -> Fetch:
    """Return *client* with the login, the header fields, the proxy and the cookies of *settings*."""
    return Middlewares(client, _with_cookies(list(_set_by(settings)), settings, None))


def _set_by(settings: Settings) -> Iterator[DownloadMiddleware]:
    if settings.auth == "digest":
        yield DigestAuth()
    if settings.headers:
        yield DefaultHeaders(settings.header_fields())
    if settings.proxy is not None:
        yield DefaultProxy(settings.proxy)


def _instance(middleware: Any) -> DownloadMiddleware:
    return middleware if isinstance(middleware, DownloadMiddleware) else middleware()


def _init_scheduler(
    result: CrawlResult,
    settings: Settings,
    job: CrawlJob | None,
    downloader: Downloader,
    analyzers: Sequence[Analyzer],
    processors: Collection[Callable[[Any], Any]],
) -> None:
    """Initialize the scheduler of *result* with its modules, and connect it with *job*."""
    keep = job.outputs.keep if job else bool
    pipeline = Pipeline(*processors, result.add_item, fail_fast=True, keep=keep)
    requests = settings.request_args()
    modules = settings.module_args(
        downloaders=[downloader], analyzers=analyzers, pipelines=[pipeline]
    )
    if job is not None:
        job.watch_failures(result.fail)
        requests = replace(requests, journal=job.journal)
        modules = replace(modules, on_stuck=job.on_stuck)
    modules = replace(modules, on_add=result.passed)
    if type(result.spider).on_error is not Spider.on_error:
        modules = replace(modules, on_error=result.chain.any_error)
    result.scheduler.init(requests, settings.data_args(), modules)


def _open_spider(
    result: CrawlResult, pipelines: ItemPipelines, fetch: Fetch, cleanup: ExitStack
) -> None:
    """Open the spider, its middlewares, its *pipelines*; *cleanup* closes them in reverse order."""
    spider, chain = result.spider, result.chain
    _warn_of_ignored(chain.middlewares)
    # Spider.fetch() and Spider.waiting() need the crawl that they are part of.
    spider._fetch = fetch  # noqa: SLF001
    spider._waiting = result.scheduler.waiting  # noqa: SLF001
    spider.open()
    cleanup.callback(spider.close)
    chain.open()
    cleanup.callback(chain.close)
    pipelines.open()
    cleanup.callback(pipelines.close)


def _callback_fetch(scheduler: Scheduler, first: _FirstRequests, job: CrawlJob | None) -> Fetch:
    """Return what fetches as part of the crawl; before the crawl runs, for Spider.start(), directly."""
    within: Fetch = scheduler.fetch
    if job is not None:
        within = job.around_fetch(scheduler.fetch, scheduler.waiting)

    def fetch(request: Request) -> Response:
        runs = scheduler.status in (Status.STARTED, Status.STOPPING)
        return within(request) if runs else first.fetch(request)

    return fetch


def _fetch_aside(download: Fetch, job: CrawlJob | None, request: Request) -> Response:
    """Fetch a page that is not part of the crawl; its exchange is recorded all the same."""
    try:
        return saved(download(request))
    finally:
        if job is not None:
            job.journal.fetched_aside(request)


class _FirstRequests:
    """
    The first requests of a spider that pass the chain; one that fails there is skipped and logged.

    They say which hosts the crawl trusts: those that the user names by their address, in
    start_urls or in start(). What start() yields after it has fetched a page may come from that
    page, so nothing is trusted for it.
    """

    def __init__(self, chain: SpiderChain, download: Fetch) -> None:
        self._chain = chain
        self._download = download
        self._is_led_by_a_page = False
        #: The URLs of those that a middleware has dropped.
        self.dropped: list[str] = []

    @cached_property
    def _trusted(self) -> set[str]:
        """The hosts that are trusted: first those of start_urls, which open() may have set."""
        return {*urls.hosts_by_address(named_urls(self._chain.spider))}

    def __iter__(self) -> Iterator[Request]:
        is_empty = True
        for found in first_requests(self._chain.spider):
            url = getattr(found, "url", found)
            if isinstance(url, str) and not self._is_led_by_a_page:
                self._trusted.update(urls.hosts_by_address([url]))
            request = self._passed(found)
            if request is not None:
                is_empty = False
                yield request.replace(trusted=self._trusted)
            elif isinstance(url, str):
                self.dropped.append(url)
        if is_empty and (more := self._chain.next_request()) is not None:
            yield more.replace(trusted={*urls.hosts_by_address([more.url])})

    def fetch(self, request: Request) -> Response:
        """Fetch a page before the crawl runs."""
        self._is_led_by_a_page = True
        return self._download(request.replace(trusted=self._trusted))

    def _passed(self, found: Request | str) -> Request | None:
        is_led_by_a_page = self._is_led_by_a_page
        try:
            return self._chain.request(found)
        except CrawlerError as error:
            log.warning("first request %s: %s", found, error)
            return None
        finally:  # a fetch of a middleware does not concern start()
            self._is_led_by_a_page = is_led_by_a_page


def _description(spider: Spider, settings: Settings) -> dict[str, Any]:
    """Return a description of the job, for people to read."""
    given = {name: _public(values[-1].value) for name, values in settings.origins.items()}
    return {
        "spider": spider.name,
        "start_urls": [without_credentials(url) for url in named_urls(spider)],
        "settings": given,
        "source": _source_hash(spider),
    }


def _public(value: Any) -> Any:
    return hide_passwords(value) if isinstance(value, str) else value


def _source_hash(spider: Spider) -> str:
    """Return a hash of the spider's source, to notice a change; "" if the source is unknown."""
    try:
        text = inspect.getsource(type(spider))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
