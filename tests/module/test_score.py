import pytest

from crawler.module import Counts, classic_score, load_score
from crawler.module import score as module_score


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("crawler.module.score.monotonic", clock)
    return clock


def after(*ends, counts=None):
    counts = counts or Counts()
    for seconds, failed in ends:
        counts.handling += 1
        counts.end(module_score.monotonic() - seconds, failed=failed)
    return counts


def test_the_classic_score_weighs_totals():
    counts = Counts(called=10**9, accepted=10**8, completed=10**7, handling=10**6)

    assert classic_score(counts) == 10**9 + 2 * 10**8 + 4 * 10**7 + 16 * 10**6
    assert classic_score(Counts()) == 0


def test_totals_do_not_count_in_the_load_score(clock):
    veteran = Counts(called=10**9, accepted=10**9, completed=10**9)

    assert load_score(veteran) == load_score(Counts()) == 0


def test_a_call_in_flight_weighs_more_than_any_latency(clock):
    slow = after(*[(3600.0, False)] * 50)

    assert load_score(Counts()) < load_score(slow) <= load_score(Counts(handling=1))


def test_of_two_equally_busy_modules_the_slower_scores_higher(clock):
    assert load_score(after(*[(0.1, False)] * 30)) < load_score(after(*[(2.0, False)] * 30))


def test_latencies_that_hardly_differ_score_the_same(clock):
    assert load_score(after(*[(0.010, False)] * 30)) == load_score(after(*[(0.011, False)] * 30))


def test_a_module_that_always_fails_scores_above_one_with_hundreds_of_calls_in_flight(clock):
    failing = after(*[(0.0, True)] * 30)

    assert load_score(failing) > load_score(Counts(handling=500))


def test_one_failure_among_many_calls_soon_loses_its_weight(clock):
    counts = after((0.0, True))
    assert load_score(counts) > load_score(Counts(handling=2))

    after(*[(0.0, False)] * 20, counts=counts)

    assert load_score(counts) < load_score(Counts(handling=1))


def test_failures_decay_so_that_a_module_gets_another_chance(clock):
    counts = after(*[(0.0, True)] * 30)

    scores = []
    for _ in range(20):
        clock.now += 30
        scores.append(load_score(counts))

    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == 0


def test_a_success_after_a_rest_never_counts_against_the_module(clock):
    counts = after(*[(0.0, True)] * 30)
    clock.now += 120
    rested = load_score(counts)

    after((0.0, False), counts=counts)

    assert load_score(counts) <= rested


def test_one_failure_after_a_rest_counts_as_one(clock):
    counts = after(*[(0.0, True)] * 30)
    clock.now += 3600

    after((0.0, True), counts=counts)

    assert load_score(counts) == load_score(after((0.0, True)))
