import gc
import logging

import gevent
import pytest

from crawler import Spider, crawl
from crawler.testing import LoopbackSite

#: Settings that are as fast as a loopback site allows.
FAST = {
    "allow_private": True,
    "robots": False,
    "delay": 0,
    "per_host": 32,
    "retries.wait": 0.01,
    "politeness.backoff": 0.01,
    "politeness.throttle": 0.01,
    "politeness.max_backoff": 0.05,
    "politeness.max_retry_after": 0.05,
    "politeness.latency_factor": 0,
    "politeness.jitter": 0,
    "politeness.give_up_after": 1_000_000,
    "politeness.probe_after": 1_000_000,
}


@pytest.fixture(autouse=True)
def _patience(request):
    """Let a deadlock fail the test instead of hanging the run."""
    with gevent.Timeout(1500 if request.node.get_closest_marker("long") else 200):
        yield


@pytest.fixture
def serve():
    """Start a LoopbackSite that ends with the test."""
    started = []

    def serve(pages, **options):
        started.append(LoopbackSite(pages, **options).start())
        return started[-1]

    yield serve
    for site in started:
        site.stop()


@pytest.fixture
def visit():
    """
    Crawl to the end with *parse* as the callback; return the result, whose counts balance.

    Other keywords are settings, with two underscores for a dot.
    """

    def visit(parse, *first, depth=None, **settings):
        kind = type("Visitor", (Spider,), {"start_urls": first, "max_depth": depth, "parse": parse})
        given = {name.replace("__", "."): value for name, value in settings.items()}
        result = crawl(kind(), **{**FAST, **given})
        balanced(result.summary)
        return result

    return visit


def balanced(summary, pending=0):
    """Every URL has one outcome."""
    urls = summary.urls
    assert urls.pending == pending
    assert urls.admitted == (
        urls.done + sum(urls.failed.values()) + sum(urls.refused.values()) + pending
    )
    assert urls.met == urls.admitted + sum(urls.turned_away.values())


@pytest.fixture
def quiet(capfd, caplog):
    """Fail if a greenlet dies or anything prints a traceback while the test runs."""
    hub = gevent.get_hub()
    died = []
    before = hub.handle_error
    hub.handle_error = lambda *what: died.append(what)
    caplog.set_level(logging.WARNING)
    yield caplog
    del hub.handle_error
    assert hub.handle_error == before
    gc.collect()
    printed = "".join(capfd.readouterr())
    assert "Traceback" not in printed, printed
    assert not died, died
