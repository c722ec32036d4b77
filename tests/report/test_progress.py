"""The time left is computed from two summaries and the budget."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier import Budget, HostFigures, UrlCounts
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.report.pace import Pace
from crawler.report.progress import Progress, TimeLeft, time_left
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.testing import Site


def at(summary, *, elapsed, admitted, settled):
    urls = UrlCounts(admitted=admitted, done=settled, pending=admitted - settled)
    return replace(summary, elapsed=elapsed, urls=urls)


NO_BUDGET = Budget()


@pytest.mark.parametrize(
    ("admitted", "settled", "budget", "left"),
    [
        pytest.param(1000, 300, NO_BUDGET, TimeLeft(70.0), id="nothing new is found"),
        pytest.param(1001, 300, NO_BUDGET, TimeLeft(70.1), id="hardly anything new is found"),
        pytest.param(1100, 300, NO_BUDGET, None, id="more is found all the time"),
        pytest.param(1000, 200, NO_BUDGET, None, id="nothing moves"),
        pytest.param(
            1100, 300, Budget(pages=400), TimeLeft(10.0), id="more is known than may be had"
        ),
        pytest.param(1100, 300, Budget(pages=5000), None, id="not all of it is known yet"),
        pytest.param(
            1100, 300, Budget(seconds=60), TimeLeft(40.0, at_most=True), id="time ends it"
        ),
        pytest.param(1000, 300, Budget(seconds=60), TimeLeft(40.0), id="time ends it first"),
        pytest.param(1000, 300, Budget(seconds=900), TimeLeft(70.0), id="it ends before its time"),
    ],
)
def test_the_time_left_is_computed_if_it_can_be_known(summary, admitted, settled, budget, left):
    earlier = at(summary, elapsed=10.0, admitted=1000, settled=200)
    now = at(summary, elapsed=20.0, admitted=admitted, settled=settled)

    found = left_after(earlier, now, budget)

    assert (found and replace(found, seconds=round(found.seconds, 6))) == left


def left_after(earlier, now, budget):
    pace = Pace(earlier)
    pace.add(now)
    return time_left(pace, now, budget)


def test_a_short_span_is_not_enough_for_the_time_left(summary):
    earlier = at(summary, elapsed=1.0, admitted=1000, settled=200)
    now = at(summary, elapsed=1.5, admitted=1000, settled=300)

    assert left_after(earlier, now, NO_BUDGET) is None


counts = st.integers(0, 10**9)


@given(
    *(st.tuples(counts, counts, st.floats(0, 1e6)) for _ in range(2)),
    st.none() | st.integers(1, 10**9),
    st.none() | st.floats(0.1, 1e6),
)
def test_the_time_left_is_never_negative_nor_beyond_a_limit_of_time(first, second, pages, seconds):
    scheduler = Scheduler()
    modules = ModuleArgs([Downloader(Site({}))], [Analyzer(lambda response: [])], [Pipeline()])
    scheduler.init(RequestArgs(), DataArgs(), modules)
    summary = scheduler.summary()
    earlier, now = (
        at(summary, elapsed=elapsed, admitted=settled + pending, settled=settled)
        for settled, pending, elapsed in (first, second)
    )

    left = left_after(earlier, now, Budget(pages=pages, seconds=seconds))

    assert left is None or left.seconds >= 0
    if seconds is not None:
        assert left.seconds <= seconds


def host(name, latency):
    return HostFigures(name, 1, 0, 0, 0, None, 0.1, "", latency=latency)


def test_progress_remembers_the_slowest_hosts_at_their_slowest(summary):
    progress = Progress(summary, NO_BUDGET)

    first = progress.update(summary, [host("a", 0.5), host("b", 0.1), host("c", 0)])
    second = progress.update(summary, [host("a", 0.2), host("b", 0.3)])
    third = progress.update(summary)

    assert [row.host for row in first.hosts] == ["a", "b"], "c has not answered yet"
    assert [row.host for row in second.hosts] == ["b", "a"]
    assert third.hosts == second.hosts
    assert [(row.host, row.latency) for row in progress.slowest_hosts] == [("a", 0.5), ("b", 0.3)]


def test_progress_has_the_bottleneck_and_the_time_left(summary):
    begun, now = (
        at(summary, elapsed=elapsed, admitted=1000, settled=settled)
        for elapsed, settled in ((10.0, 200), (20.0, 300))
    )

    moment = Progress(begun, NO_BUDGET).update(replace(now, queued=9, resting="delay"))

    assert moment.bottleneck.name == "delay"
    assert moment.time_left == TimeLeft(70.0)
