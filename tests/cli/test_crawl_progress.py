"""The progress of real crawls: the slowest hosts, and the bottleneck."""

import gevent
import pytest

from crawler import stream
from crawler.cli.crawl_progress import CrawlProgress
from crawler.frontier import Budget, Politeness
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.settings import Settings
from crawler.spider import PageSpider
from crawler.testing import LoopbackSite, Reply, Site, faults


@pytest.fixture
def scheduler():
    scheduler = Scheduler()
    modules = ModuleArgs(
        [Downloader(Site({}))],
        [Analyzer(lambda response: [])],
        [Pipeline()],
        *(8, 4, 2),
    )
    scheduler.init(RequestArgs(), DataArgs(), modules)
    return scheduler


NO_BUDGET = Budget()


def read_until(progress, holds):
    with gevent.Timeout(120):
        while not holds():
            progress.read()
            gevent.sleep(0.01)


def test_the_slowest_hosts_are_remembered(scheduler):
    pages = {f"http://h{n}.test/{page}": Reply(delay=n / 100) for n in range(1, 8) for page in "ab"}
    modules = ModuleArgs([Downloader(Site(pages))], [Analyzer(lambda _: [])], [Pipeline()])
    alone = RequestArgs(politeness=Politeness.off(per_host=1))
    scheduler.init(alone, DataArgs(), modules)
    scheduler.start(list(pages))
    progress = CrawlProgress(scheduler, NO_BUDGET)

    read_until(
        progress, lambda: progress.slowest_hosts and progress.slowest_hosts[0].host == "h7.test"
    )
    scheduler.join()
    scheduler.stop()

    latencies = [row.latency for row in progress.slowest_hosts]
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] >= 0.07
    assert len(latencies) <= 5


def star(delay=0.0, robots=""):
    """A site whose first page links to all others; each of them takes *delay* seconds."""
    links = "".join(f'<a href="/{n}">x</a>' for n in range(99))
    pages = {f"/{n}": Reply(body="x", delay=delay) for n in range(99)}
    return pages | {"/": links, "/robots.txt": Reply(body=robots or "x")}


def throttling():
    return star() | {f"/{n}": Reply(503, {"Retry-After": "60"}) for n in range(99)}


def chain():
    return {"/": _next(0)} | {f"/{n}": Reply(body=_next(n + 1), delay=0.1) for n in range(99)}


def _next(n):
    return f'<a href="/{n}">x</a>'


FREE = {"delay": 0, "politeness.latency_factor": 0, "robots": False, "depth": 99}


@pytest.mark.parametrize(
    ("pages", "settings", "name"),
    [
        (star(), {"delay": 0.1}, "delay"),
        (star(0.1), {"politeness.latency_factor": 3}, "latency"),
        (star(robots="User-agent: *\nCrawl-delay: 1"), {"robots": True}, "crawl-delay"),
        (star(0.1), {"per_host": 3}, "per_host"),
        (star(0.1), {"concurrency": 2, "per_host": 9}, "concurrency"),
        (star(), {"bandwidth": 50}, "bandwidth"),
        (throttling(), {"retries": 1}, "throttled"),
        (chain(), {}, "servers"),
        ({"/": Reply(500)}, {"retries.wait": 30}, "retry"),
        (star() | {"/0": faults.reset()}, {"per_host": 1, "politeness.backoff": 30}, "failing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_bottleneck_of_a_real_crawl(pages, settings, name):
    with LoopbackSite(pages) as site:
        spider = PageSpider(start_urls=[site.url()])
        with stream(spider, settings=Settings.load(code=FREE | settings)) as result:
            progress = CrawlProgress(result.scheduler, NO_BUDGET)

            def leads():
                bottleneck, _ = progress.bottlenecks.longest
                return bottleneck.name == name

            # On a busy machine something else may take the most time at first, not in the end.
            read_until(progress, lambda: result.summary.elapsed > 1 and leads())
            result.stop(0)

    assert leads()
