import gc
import random
import re
from pathlib import Path

import gevent
import pytest
from gevent import Greenlet
from gevent.event import Event

from crawler.buffer import Pool
from crawler.frontier import Politeness, Retries
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler, Status

HOME = "http://site.test/"


def find_links(response):
    """The default parser: every href, as it is written."""
    return re.findall(r'href="([^"]*)"', response.text)


@pytest.fixture(autouse=True)
def deadline(request):
    """Fail a test that deadlocks, instead of hanging."""
    with gevent.Timeout(800 if request.node.get_closest_marker("long") else 200):
        yield


@pytest.fixture
def links():
    return find_links


@pytest.fixture
def page():
    """Return a function that writes a page with links."""
    return lambda *hrefs: "".join(f'<a href="{href}">{href}</a>' for href in hrefs)


@pytest.fixture
def tiny():
    """Capacity 1 everywhere."""
    return DataArgs(*[1] * 8)


@pytest.fixture
def args():
    """Return a function that makes the three arguments of init()."""

    def make(
        fetch,
        *parsers,
        processors=(),
        accepted_domains=(),
        max_depth=None,
        data=None,
        **modules,
    ):
        small = {"download_workers": 4, "analyze_workers": 2, "pipeline_workers": 2}
        return (
            RequestArgs(
                accepted_domains, max_depth, politeness=Politeness.off(), retries=Retries(1)
            ),
            data or DataArgs(),
            ModuleArgs(
                [Downloader(fetch)],
                [Analyzer(*parsers or (find_links,))],
                [Pipeline(*processors)],
                **(small | modules),
            ),
        )

    return make


@pytest.fixture
def build(args):
    """Return a function that makes an initialized scheduler; at the end it is stopped."""
    made = []

    def make(*positional, **options):
        scheduler = Scheduler()
        scheduler.init(*args(*positional, **options))
        made.append(scheduler)
        return scheduler

    yield make
    for scheduler in made:
        if scheduler.status is Status.STARTED:
            scheduler.stop(timeout=0)


@pytest.fixture
def crawl(build):
    """Return a function that crawls to the end and returns the last summary and the errors."""

    def run(*positional, first=HOME, **options):
        scheduler = build(*positional, **options)
        errors = gevent.spawn(list, scheduler.error_chan())
        scheduler.start(first)
        assert scheduler.join()
        assert scheduler.idle
        return scheduler.stop(), errors.get(timeout=120)

    return run


@pytest.fixture
def balanced():
    """Return a function that checks the conservation laws of a summary."""

    def check(summary, *, pending=None):
        urls, items = summary.urls, summary.items
        ended = urls.done + sum(urls.failed.values()) + sum(urls.refused.values())
        assert urls.admitted == ended + urls.pending
        assert urls.met == urls.admitted + sum(urls.turned_away.values())
        left = items.found - items.processed - items.failed - items.dropped
        assert left >= 0
        if pending is not None:
            assert urls.pending == pending
        if not urls.pending:
            assert left == 0
        for module in (*summary.downloaders, *summary.analyzers, *summary.pipelines):
            assert 0 <= module.completed <= module.accepted <= module.called
            assert module.handling == 0 or summary.status != "stopped"

    return check


@pytest.fixture
def living():
    """Return a function that counts the greenlets that have not ended."""

    def count():
        gc.collect()
        return sum(isinstance(thing, Greenlet) and not thing.dead for thing in gc.get_objects())

    return count


@pytest.fixture
def descriptors():
    """Return a function that counts the open file descriptors."""
    return lambda: len(list(Path("/proc/self/fd").iterdir()))


class _HeldArgs(ModuleArgs):
    """Module arguments that block init() until *gate* is set."""

    gate = Event()

    @property
    def modules(self):
        self.gate.wait()
        return super().modules


@pytest.fixture
def in_state(args):
    """Return a function that brings a real scheduler into one of the seven states."""
    gate = Event()
    made = []

    def held(request):
        gate.wait()
        raise ConnectionError("the test is over")

    def endless():
        gate.wait()
        yield HOME

    def bring(status):
        scheduler = Scheduler()
        request_args, data_args, module_args = args(held)
        if status is Status.INITIALIZING:
            slow = type("Slow", (_HeldArgs,), {"gate": gate})(
                module_args.downloaders, module_args.analyzers, module_args.pipelines
            )
            made.append(gevent.spawn(scheduler.init, request_args, data_args, slow))
        elif status is not Status.UNINITIALIZED:
            scheduler.init(request_args, data_args, module_args)
        if status is Status.STARTING:
            made.append(gevent.spawn(scheduler.start, endless()))
        elif status in (Status.STARTED, Status.STOPPING, Status.STOPPED):
            scheduler.start(HOME)
        gevent.idle()
        if status is Status.STOPPING:
            made.append(gevent.spawn(scheduler.stop, 20))
        elif status is Status.STOPPED:
            scheduler.stop(timeout=0)
        gevent.idle()
        assert scheduler.status is status
        made.append(scheduler)
        return scheduler

    yield bring
    gate.set()
    gevent.joinall([each for each in made if not isinstance(each, Scheduler)], timeout=120)
    for each in made:
        if isinstance(each, Scheduler) and each.status is Status.STARTED:
            each.stop(timeout=1)


@pytest.fixture(params=range(8))
def dice(request, monkeypatch):
    """Dice that also decide how often each put into a pool yields to other greenlets first."""
    dice = random.Random(request.param)
    monkeypatch.setattr(Pool, "put", slowly(dice, Pool.put))
    monkeypatch.setattr(Pool, "get", slowly(dice, Pool.get))
    return dice


def slowly(dice, function):
    def pause():
        for _ in range(dice.choice([0, 0, 1, 3])):
            gevent.sleep(0)

    def wrapped(*args, **kwargs):
        pause()
        try:
            return function(*args, **kwargs)
        finally:
            pause()

    return wrapped
