import math

from crawler.frontier.durable.durations import DURATION_BOUNDS, Durations


def test_commits_are_counted_by_the_bound_that_they_do_not_exceed():
    times = Durations()

    for seconds in (0.0005, 0.001, 0.0011, 4.0, 60.0):
        times.add(seconds)

    found = times.figures()
    numbers = dict(zip(DURATION_BOUNDS, found["numbers"], strict=True))
    assert {bound: n for bound, n in numbers.items() if n} == {
        0.001: 2,
        0.002: 1,
        5.0: 1,
        math.inf: 1,
    }
    assert found["seconds"] == 0.0005 + 0.001 + 0.0011 + 4.0 + 60.0
