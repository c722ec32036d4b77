from contextlib import contextmanager

import gevent
import pytest

from crawler import (
    Analyzer,
    CurlFetch,
    DataArgs,
    Downloader,
    ModuleArgs,
    Pipeline,
    RequestArgs,
    Scheduler,
)
from crawler.fetch import Limits
from crawler.frontier import Budget, Frontier, Politeness, Retries, Scope
from crawler.spider import links

from .hosts.scheduling import EXACT
from .steps import DOMAINS, Clock


@contextmanager
def running(
    first, *, domains=(), fetch=None, budget=None, retries=None, workers=32, depth=None, **limits
):
    """A started crawl of everything below *first*; yields the scheduler and its errors."""
    politeness = Politeness(
        **({"delay": 0.0, "latency_factor": 0.0, "backoff": 0.05, "throttle": 0.05} | limits)
    )
    own = fetch is None
    fetch = fetch or CurlFetch(limits=Limits(connect=10, total=60))
    modules = ModuleArgs(
        [Downloader(fetch)], [Analyzer(links)], [Pipeline()], download_workers=workers
    )
    errors = []
    with gevent.Timeout(120), Scheduler() as scheduler:
        scheduler.init(
            RequestArgs(
                domains,
                depth,
                politeness=politeness,
                retries=retries or Retries(wait=0.02),
                budget=budget or Budget(),
            ),
            DataArgs(),
            modules,
        )
        reader = gevent.spawn(lambda chan: errors.extend(chan), scheduler.error_chan())
        scheduler.start(first)
        yield scheduler, errors
        if scheduler.status.value == "started":
            scheduler.stop(timeout=1)
        reader.join(timeout=120)
    if own:
        fetch.close()


@pytest.fixture
def crawl():
    """Crawl to the end; return the summary, which balances, and the errors."""

    def crawl(first, **limits):
        with running(first, **limits) as (scheduler, errors):
            assert scheduler.join(timeout=120)
            summary = scheduler.stop()
        urls = summary.urls
        assert urls.met == urls.admitted + sum(urls.turned_away.values())
        assert urls.admitted == urls.done + sum(urls.failed.values()) + sum(urls.refused.values())
        return summary, errors

    return crawl


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def frontier(clock):
    """Makes frontiers that live by the clock; nothing in them is left to chance."""

    def make(*, retries=None, budget=None, **limits):
        quiet = {"delay": 0.0, "robots": False, "backoff": 1.0, "throttle": 30.0}
        politeness = Politeness(**(EXACT | quiet | limits))
        return Frontier(
            Scope(DOMAINS, max_depth=None),
            politeness=politeness,
            retries=retries or Retries(1),
            budget=budget,
            clock=clock,
        )

    return make
