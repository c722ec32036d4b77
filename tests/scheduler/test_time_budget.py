import gevent
import pytest

from crawler.data import Request
from crawler.frontier import Budget, Frontier, Scope
from crawler.scheduler.memory_guard import Memory, MemoryGuard
from crawler.scheduler.meter import Meter
from crawler.scheduler.time_budget import time_limits

URL = "http://site.test/"


@pytest.fixture
def beside():
    """Runs the time limits of a budget beside a frontier, until the test ends."""
    running = []

    def begin(**budget):
        frontier = Frontier(Scope(accepted_domains=["site.test"]), budget=Budget(**budget))
        for watch in time_limits(frontier, Meter(), MemoryGuard(Memory(), bool)):
            running.append(gevent.spawn(watch))
        return frontier

    with gevent.Timeout(120):
        yield begin, running
    gevent.killall(running)


def test_without_a_limit_of_time_nothing_is_run(beside):
    begin, running = beside
    begin(pages=3, bytes=1000, errors=5)

    assert running == []


def test_a_crawl_is_cut_off_when_its_time_is_over(beside):
    begin, running = beside
    frontier = begin(seconds=0.05)
    assert frontier.admit(Request(URL)) is None

    gevent.joinall(running)

    assert frontier.view.idle
    assert frontier.admit(Request(f"{URL}late")) == "time_limit"


def test_a_crawl_without_pages_is_slow(beside):
    begin, running = beside
    frontier = begin(min_rate=1.0, patience=0.05)

    gevent.joinall(running)

    assert frontier.admit(Request(URL)) == "slow"


def test_time_in_which_it_was_paused_does_not_count(beside):
    """It is resumed just before the next check: it had no time to fetch pages."""
    begin, running = beside
    frontier = begin(min_rate=1.0, patience=1.0)
    frontier.pause()
    gevent.sleep(1.5)
    frontier.resume()
    gevent.sleep(1.0)

    assert frontier.admit(Request(URL)) is None

    gevent.joinall(running)
    assert frontier.admit(Request(f"{URL}late")) == "slow"
