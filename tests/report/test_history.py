from dataclasses import replace

import pytest

from crawler.frontier import UrlCounts
from crawler.report.history import History
from crawler.scheduler.meter import Latency


def at(summary, seconds, responses, latency=0.0):
    return replace(summary, elapsed=seconds, responses=responses, latency=Latency(total=latency))


def test_rates_and_latencies_are_those_between_samples(summary):
    history = History()
    history.add(at(summary, 0, 0))
    history.add(at(summary, 2, 10, 5.0))
    history.add(at(summary, 4, 10, 5.0))

    assert history.rates() == [(2, 5.0), (4, 0.0)]
    assert history.latencies() == [(2, 0.5)]
    assert history.left() == [(0, 100), (2, 100), (4, 100)]


def test_it_is_bounded_and_covers_the_whole_crawl(summary):
    history = History()
    for second in range(10_000):
        history.add(at(summary, float(second), second * 3))

    assert 50 <= len(history.to_list()) <= 120
    assert history.left()[0][0] == 0
    assert history.left()[-1][0] > 9_800
    assert all(rate == pytest.approx(3) for _, rate in history.rates())


def test_the_end_of_a_crawl_is_in_it(summary):
    history = History()
    history.add(at(summary, 1.0, 1))
    end = replace(at(summary, 1.5, 2), status="stopped", urls=UrlCounts())
    history.add(end)
    history.add(end)

    assert history.left() == [(1.0, 100), (1.5, 0)]


def test_samples_that_are_too_close_are_left_out(summary):
    history = History()
    for tenth in range(100):
        history.add(at(summary, tenth / 10, tenth))

    assert len(history.to_list()) == 10


def test_it_can_be_written_and_read(summary):
    history = History()
    for second in range(5):
        history.add(at(summary, float(second), second))

    assert History(history.to_list()).rates() == history.rates()
