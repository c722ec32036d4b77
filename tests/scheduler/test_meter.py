import pytest

from crawler.data import Response
from crawler.scheduler.meter import LATENCY_BOUNDS, Latency, Meter

HOME = "http://site.test/"


def test_latency_is_within_a_tenth_of_the_truth():
    meter = Meter()
    for number in range(1, 1001):
        meter.count(Response(HOME, 200, elapsed=number / 1000))

    latency = meter.latency()

    assert latency.p50 == pytest.approx(0.5, rel=0.1)
    assert latency.p90 == pytest.approx(0.9, rel=0.1)
    assert latency.p99 == pytest.approx(0.99, rel=0.1)
    assert latency.max == 1.0


def test_a_meter_that_has_counted_nothing_returns_zeros():
    meter = Meter()

    assert (meter.rate, meter.elapsed, meter.latency()) == (0.0, 0.0, Latency())


def test_the_rate_looks_at_the_last_ten_seconds(monkeypatch):
    now = 1000.0
    monkeypatch.setattr("crawler.scheduler.meter.monotonic", lambda: now)
    meter = Meter()
    meter.start()
    for second in range(100):
        now = 1000.0 + second
        for _ in range(second):
            meter.count(Response(HOME, 200))

    now = 1100.0
    assert meter.rate == pytest.approx(sum(range(90, 100)) / 10)
    now = 1200.0
    assert meter.rate == 0
    meter.stop()
    assert meter.rate == pytest.approx(sum(range(100)) / 200)


def test_the_histogram_counts_every_response_below_its_last_bound():
    meter = Meter()
    for seconds in (0.0, 0.001, 0.3, 0.5, 0.51, 60.0, 1000.0):
        meter.count(Response(HOME, 200, elapsed=seconds))

    latency = meter.latency()

    assert latency.histogram == {LATENCY_BOUNDS[0]: 1, 2**-9: 1, 0.5: 2, 1.0: 1, 64.0: 1}
    assert latency.total == pytest.approx(1061.311)


def test_latencies_are_counted_on_after_a_restart():
    first, second = Meter(), Meter()
    first.count(Response(HOME, 200, elapsed=0.5))

    second.continue_from(first.figures())
    second.count(Response(HOME, 200, elapsed=0.5))

    assert second.latency().total == 1.0
    assert second.latency().histogram == {0.5: 2}
