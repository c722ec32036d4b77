"""What holds a crawl up, as a table of situations; and how long it will take."""

from dataclasses import replace

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import stream
from crawler.frontier import Budget, Politeness, UrlCounts
from crawler.module import Analyzer, Downloader, ModuleSummary, Pipeline
from crawler.report import bottleneck as verdict
from crawler.report.bottleneck import Limit, Tally, limit_of
from crawler.report.progress import Left, Watch, time_left
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.settings import Settings
from crawler.settings.table import find
from crawler.spider import Pages
from crawler.testing import LoopbackSite, Reply, Site, faults

LIMITS = [
    *(value for value in vars(verdict).values() if isinstance(value, Limit)),
    *verdict._RESTS.values(),
]


@pytest.fixture
def scheduler():
    scheduler = Scheduler()
    modules = ModuleArgs(
        [Downloader(Site({}))],
        [Analyzer(lambda response: [])],
        [Pipeline()],
        *(8, 4, 2),
    )
    scheduler.init(RequestArgs(), DataArgs(), modules)
    return scheduler


@pytest.fixture
def summary(scheduler):
    """A crawl that has a hundred pages to go, and waits for nothing that can be told."""
    return replace(scheduler.summary(), urls=UrlCounts(admitted=100, pending=100))


def at_work(number):
    return (ModuleSummary("M1", number, number, 0, number, 0.0),)


def holding(pool, number):
    return replace(pool, total=number)


#: Each is what differs from a crawl with nothing special, and the name of the limit.
SITUATIONS = {
    "all is done": ({"urls": UrlCounts(admitted=9, done=9)}, "idle"),
    "it is paused": ({"paused": True, "queued": 9}, "paused"),
    "a host rests for its delay": ({"queued": 9, "next_wake": 0.1, "resting": "delay"}, "delay"),
    "one request is under way meanwhile": (
        {"queued": 9, "next_wake": 0.1, "resting": "delay", "downloaders": at_work(1)},
        "delay",
    ),
    "a host rests for its latency": ({"queued": 9, "resting": "latency"}, "latency"),
    "a robots.txt asks for it": ({"queued": 9, "resting": "crawl-delay"}, "crawl-delay"),
    "a host said 429": ({"queued": 9, "resting": "429"}, "throttled"),
    "a host did not answer": ({"queued": 9, "resting": "timeout"}, "failing"),
    "a robots.txt cannot be had": ({"queued": 9, "resting": "robots.txt"}, "robots.txt"),
    "a retry is to come": ({"queued": 1, "resting": "retry"}, "retry"),
    "an address rests": ({"queued": 9, "resting": "address"}, "address"),
    "the bandwidth is used up": ({"queued": 9, "resting": "bandwidth"}, "bandwidth"),
    "hosts are due and all slots are taken": (
        {"queued": 9, "next_wake": 0.0, "downloaders": at_work(8)},
        "concurrency",
    ),
    "all slots are taken and hosts rest": (
        {"queued": 9, "next_wake": 0.1, "resting": "delay", "downloaders": at_work(8)},
        "delay",
    ),
    "hosts have all they may have": (
        {"queued": 9, "next_wake": None, "downloaders": at_work(4)},
        "per_host",
    ),
    "all that is known is asked for": ({"downloaders": at_work(4)}, "servers"),
    "all slots are taken by the last pages": ({"downloaders": at_work(8)}, "servers"),
    "a request is about to be taken": (
        {"queued": 9, "next_wake": 0.0, "downloaders": at_work(1)},
        "nothing",
    ),
    "callbacks wait for something": ({"analyzers": at_work(1)}, "analysis"),
    "items are processed at the end": ({"pipelines": at_work(1)}, "pipeline"),
    "the CPU is busy, whatever rests": ({"queued": 9, "resting": "delay", "cpu": 0.95}, "cpu"),
    "the CPU is half busy": ({"queued": 9, "resting": "delay", "cpu": 0.5}, "delay"),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_limit_of_each_situation(summary, situation):
    changes, name = SITUATIONS[situation]

    assert limit_of(summary, replace(summary, elapsed=1.0, **changes)).name == name


@pytest.mark.parametrize(
    ("pool", "modules", "workers", "name"),
    [
        ("response_pool", "analyzers", 4, "analysis"),
        ("item_pool", "pipelines", 2, "pipeline"),
    ],
)
def test_a_stage_is_the_limit_when_data_wait_for_it(summary, pool, modules, workers, name):
    figures = getattr(summary, pool)
    full = holding(figures, figures.buffer_cap * figures.max_buffer_number)
    rests = {"elapsed": 1.0, "queued": 9, "resting": "delay"}

    def limit(**changes):
        return limit_of(summary, replace(summary, **rests | changes)).name

    assert limit(**{pool: full}) == name
    assert limit(**{pool: holding(figures, 1), modules: at_work(workers)}) == name
    assert limit(**{pool: holding(figures, 1), modules: at_work(workers - 1)}) == "delay"
    assert limit(**{modules: at_work(workers)}) == "delay", "nothing waits"


def test_items_that_cannot_leave_are_the_limit_before_all_that_they_hold_up(summary):
    items, responses = summary.item_pool, summary.response_pool
    jam = replace(
        summary,
        elapsed=1.0,
        cpu=1.0,
        item_pool=holding(items, items.buffer_cap * items.max_buffer_number),
        response_pool=holding(responses, responses.buffer_cap * responses.max_buffer_number),
    )

    assert limit_of(summary, jam).name == "pipeline"


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_each_limit_names_a_setting_that_there_is(limit):
    if limit.setting:
        assert find(limit.setting).name == limit.setting
        assert f"-s {limit.setting}=" in limit.remedy
    else:
        assert limit.name in {"nothing", "idle"} or limit.remedy


def test_the_verdict_of_a_crawl_is_what_took_most_of_its_time(summary):
    tally = Tally()
    resting = replace(summary, elapsed=6.0, queued=9, resting="delay")
    asking = replace(summary, elapsed=8.0, downloaders=at_work(1))
    done = replace(asking, elapsed=99.0, urls=UrlCounts(admitted=100, done=100))

    assert tally.whole == (verdict.NOTHING, 0.0)
    for before, now in ((summary, resting), (resting, asking), (asking, done)):
        tally.add(before, now)

    limit, share = tally.whole
    assert (limit.name, share) == ("delay", 0.75), "what comes after the end does not count"


def test_the_present_verdict_is_not_changed_by_one_moment_and_follows_in_the_end(summary):
    tally = Tally()
    resting = replace(summary, elapsed=1.0, queued=9, resting="delay")
    asking = replace(summary, elapsed=1.0, downloaders=at_work(1))

    for now in (resting, resting, resting, asking):
        tally.add(summary, now)
    assert tally.present.name == "delay"

    for _ in range(9):
        tally.add(summary, asking)
    assert tally.present.name == "servers"


def progress(summary, *, elapsed, admitted, settled):
    urls = UrlCounts(admitted=admitted, done=settled, pending=admitted - settled)
    return replace(summary, elapsed=elapsed, urls=urls)


NO_BUDGET = Budget()


@pytest.mark.parametrize(
    ("admitted", "settled", "budget", "left"),
    [
        pytest.param(1000, 300, NO_BUDGET, Left(70.0), id="nothing new is found"),
        pytest.param(1001, 300, NO_BUDGET, Left(70.1), id="hardly anything new is found"),
        pytest.param(1100, 300, NO_BUDGET, None, id="more is found all the time"),
        pytest.param(1000, 200, NO_BUDGET, None, id="nothing moves"),
        pytest.param(1100, 300, Budget(pages=400), Left(10.0), id="more is known than may be had"),
        pytest.param(1100, 300, Budget(pages=5000), None, id="not all of it is known yet"),
        pytest.param(1100, 300, Budget(seconds=60), Left(40.0, at_most=True), id="time ends it"),
        pytest.param(1000, 300, Budget(seconds=60), Left(40.0), id="time ends it first"),
        pytest.param(1000, 300, Budget(seconds=900), Left(70.0), id="it ends before its time"),
    ],
)
def test_the_time_left_is_told_if_it_can_be_known(summary, admitted, settled, budget, left):
    earlier = progress(summary, elapsed=10.0, admitted=1000, settled=200)
    now = progress(summary, elapsed=20.0, admitted=admitted, settled=settled)

    assert time_left(earlier, now, budget) == left


def test_a_first_glance_tells_no_time(summary):
    earlier = progress(summary, elapsed=1.0, admitted=1000, settled=200)
    now = progress(summary, elapsed=1.5, admitted=1000, settled=300)

    assert time_left(earlier, now, NO_BUDGET) is None


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
        progress(summary, elapsed=elapsed, admitted=settled + pending, settled=settled)
        for settled, pending, elapsed in (first, second)
    )

    left = time_left(earlier, now, Budget(pages=pages, seconds=seconds))

    assert left is None or left.seconds >= 0
    if seconds is not None:
        assert left.seconds <= seconds


def look_until(watch, holds):
    with gevent.Timeout(30):
        while not holds():
            watch.look()
            gevent.sleep(0.01)


def test_a_watch_sees_the_slowest_hosts_and_remembers_them(scheduler):
    pages = {f"http://h{n}.test/{page}": Reply(delay=n / 100) for n in range(1, 8) for page in "ab"}
    modules = ModuleArgs([Downloader(Site(pages))], [Analyzer(lambda _: [])], [Pipeline()])
    alone = RequestArgs(politeness=Politeness.off(per_host=1))
    scheduler.init(alone, DataArgs(), modules)
    scheduler.start(list(pages))
    watch = Watch(scheduler, NO_BUDGET)

    look_until(watch, lambda: watch.slowest and watch.slowest[0].host == "h7.test")
    scheduler.join()
    scheduler.stop()

    latencies = [row.latency for row in watch.slowest]
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] >= 0.07
    assert len(latencies) <= 5


def star(delay=0.0, robots=""):
    """A site of which the first page links to all others, and every page takes *delay* seconds."""
    links = "".join(f'<a href="/{n}">x</a>' for n in range(99))
    pages = {f"/{n}": Reply(body="x", delay=delay) for n in range(99)}
    return pages | {"/": links, "/robots.txt": Reply(body=robots or "x")}


def throttling():
    return star() | {f"/{n}": Reply(503, {"Retry-After": "60"}) for n in range(99)}


def chain():
    return {"/": _next(0)} | {f"/{n}": Reply(body=_next(n + 1), delay=0.1) for n in range(99)}


def _next(n):
    return f'<a href="/{n}">x</a>'


FREE = {"delay": 0, "politeness.latency_factor": 0, "robots": False, "depth": 99}


@pytest.mark.parametrize(
    ("pages", "settings", "name"),
    [
        (star(), {"delay": 0.1}, "delay"),
        (star(0.1), {"politeness.latency_factor": 3}, "latency"),
        (star(robots="User-agent: *\nCrawl-delay: 1"), {"robots": True}, "crawl-delay"),
        (star(0.1), {"per_host": 3}, "per_host"),
        (star(0.1), {"concurrency": 2, "per_host": 9}, "concurrency"),
        (star(), {"bandwidth": 50}, "bandwidth"),
        (throttling(), {"retries": 1}, "throttled"),
        (chain(), {}, "servers"),
        ({"/": Reply(500)}, {"retries.wait": 30}, "retry"),
        (star() | {"/0": faults.reset()}, {"per_host": 1, "politeness.backoff": 30}, "failing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_verdict_on_a_real_crawl(pages, settings, name):
    with LoopbackSite(pages) as site:
        spider = Pages(start_urls=[site.url()])
        with stream(spider, settings=Settings.load(code=FREE | settings)) as result:
            watch = Watch(result.scheduler, NO_BUDGET)
            look_until(watch, lambda: result.summary.elapsed > 1)
            result.stop(0)

    limit, _ = watch.tally.whole
    assert limit.name == name
