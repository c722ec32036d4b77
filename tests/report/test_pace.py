"""The time that pages take is steady, whether a crawl rests between them or is held up."""

from dataclasses import replace

import pytest

from crawler.frontier import UrlCounts
from crawler.module import ModuleSummary
from crawler.report.pace import Pace

BUSY = (ModuleSummary("D1", 1, 1, 0, 1, 0.0),)


@pytest.fixture
def crawl(summary):
    """Return a function that lets time pass, a quarter of a second at a time."""

    class Crawl:
        def __init__(self):
            self.elapsed, self.settled = 0.0, 0
            self.pace = Pace(self.moment())

        def moment(self, **changes):
            urls = UrlCounts(admitted=1000, done=self.settled, pending=1000 - self.settled)
            return replace(summary, elapsed=self.elapsed, urls=urls, queued=9, **changes)

        def run(self, seconds, per_page=None, **changes):
            """Return the time for 100 pages at each moment, while a page takes *per_page* seconds."""
            begun, before, estimates = self.elapsed, self.settled, []
            while self.elapsed < begun + seconds:
                self.elapsed += 0.25
                if per_page is not None:
                    self.settled = before + int((self.elapsed - begun) / per_page)
                self.pace.add(self.moment(**changes))
                estimates.append(self.pace.seconds_for(100))
            return estimates

    return Crawl()


@pytest.mark.parametrize("per_page", [0.05, 1.0, 5.0])
def test_it_is_the_average_of_the_last_pages(crawl, per_page):
    crawl.run(40 * per_page, per_page, resting="delay")

    estimates = crawl.run(20 * per_page, per_page, resting="delay")

    for seconds in estimates:
        assert seconds == pytest.approx(100 * per_page, rel=0.05)


def test_it_follows_a_crawl_that_becomes_slower(crawl):
    crawl.run(20, 0.1)

    crawl.run(60, 2.0)

    assert crawl.pace.seconds_for(100) == pytest.approx(200, rel=0.05)


def test_between_two_pages_the_time_passes(crawl):
    crawl.run(200, 10.0, resting="crawl-delay")

    estimates = crawl.run(9, None, resting="crawl-delay")

    assert estimates == sorted(estimates, reverse=True)
    assert estimates[0] - estimates[-1] == pytest.approx(8.75)


@pytest.mark.parametrize("resting", ["429", "503", "timeout", "connect", "robots.txt", "retry"])
def test_a_rest_of_a_failing_host_is_added_and_not_averaged(crawl, resting):
    crawl.run(40, 1.0, resting="delay")

    resting = [
        crawl.run(0.25, None, resting=resting, next_wake=60.0 - n / 4)[0] for n in range(240)
    ]
    after = crawl.run(10, 1.0, resting="delay")

    assert resting[0] == pytest.approx(160, abs=2)
    assert resting[-1] == pytest.approx(100, abs=2)
    assert resting == sorted(resting, reverse=True)
    for seconds in after:
        assert seconds == pytest.approx(100, abs=2)


def test_a_rest_of_one_host_does_not_hold_up_the_others(crawl):
    crawl.run(40, 1.0)

    crawl.run(40, 2.0, resting="429", downloaders=BUSY)

    assert crawl.pace.seconds_for(100) == pytest.approx(200, rel=0.05)


def test_servers_that_do_not_answer_any_more_count(crawl):
    crawl.run(20, 0.5)

    estimates = crawl.run(120, None, downloaders=BUSY)

    assert estimates[-1] > 4 * estimates[0]


def test_nothing_is_known_at_first(crawl):
    assert crawl.run(1.75, 0.5) == [None] * 7
    assert crawl.run(10, None)[-1] is not None
