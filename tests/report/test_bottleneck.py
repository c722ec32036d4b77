"""What limits a crawl, as a table of situations."""

from dataclasses import replace

import pytest

from crawler.frontier import UrlCounts
from crawler.module import ModuleSummary
from crawler.report import bottleneck
from crawler.report.bottleneck import Bottleneck, BottleneckTimes, find_bottleneck
from crawler.settings.table import find

BOTTLENECKS = [
    *(value for value in vars(bottleneck).values() if isinstance(value, Bottleneck)),
    *bottleneck._WAITS.values(),
]


def at_work(number):
    return (ModuleSummary("M1", number, number, 0, number, 0.0),)


def holding(pool, number):
    return replace(pool, total=number)


#: For each: the changes to the summary, and the name of the bottleneck.
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
    "a robots.txt allows one request at a time": (
        {"queued": 9, "next_wake": None, "resting": "crawl-delay", "downloaders": at_work(1)},
        "crawl-delay",
    ),
    "slow hosts have their share": ({"queued": 9, "resting": "slow hosts"}, "slow hosts"),
    "large pages wait": ({"queued": 9, "resting": "large pages"}, "large pages"),
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
def test_the_bottleneck_of_each_situation(summary, situation):
    changes, name = SITUATIONS[situation]

    assert find_bottleneck(summary, replace(summary, elapsed=1.0, **changes)).name == name


@pytest.mark.parametrize(
    ("pool", "modules", "workers", "name"),
    [
        ("response_pool", "analyzers", 4, "analysis"),
        ("item_pool", "pipelines", 2, "pipeline"),
    ],
)
def test_a_stage_is_the_bottleneck_when_data_wait_for_it(summary, pool, modules, workers, name):
    figures = getattr(summary, pool)
    full = holding(figures, figures.buffer_cap * figures.max_buffer_number)
    rests = {"elapsed": 1.0, "queued": 9, "resting": "delay"}

    def limit(**changes):
        return find_bottleneck(summary, replace(summary, **rests | changes)).name

    assert limit(**{pool: full}) == name
    assert limit(**{pool: holding(figures, 1), modules: at_work(workers)}) == name
    assert limit(**{pool: holding(figures, 1), modules: at_work(workers - 1)}) == "delay"
    assert limit(**{modules: at_work(workers)}) == "delay", "nothing waits"


def test_a_full_item_pool_goes_before_everything_that_it_blocks(summary):
    items, responses = summary.item_pool, summary.response_pool
    jam = replace(
        summary,
        elapsed=1.0,
        cpu=1.0,
        item_pool=holding(items, items.buffer_cap * items.max_buffer_number),
        response_pool=holding(responses, responses.buffer_cap * responses.max_buffer_number),
    )

    assert find_bottleneck(summary, jam).name == "pipeline"


@pytest.mark.parametrize("limit", BOTTLENECKS, ids=lambda limit: limit.name)
def test_each_bottleneck_names_a_setting_that_exists(limit):
    if limit.setting:
        assert find(limit.setting).name == limit.setting
        assert f"-s {limit.setting}=" in limit.remedy
    else:
        assert limit.name in {"nothing", "idle"} or limit.remedy


def test_the_longest_bottleneck_took_most_of_the_time(summary):
    times = BottleneckTimes()
    resting = replace(summary, elapsed=6.0, queued=9, resting="delay")
    asking = replace(summary, elapsed=8.0, downloaders=at_work(1))
    done = replace(asking, elapsed=99.0, urls=UrlCounts(admitted=100, done=100))

    assert times.longest == (bottleneck.NOTHING, 0.0)
    for before, now in ((summary, resting), (resting, asking), (asking, done)):
        times.add(before, now)

    limit, share = times.longest
    assert (limit.name, share) == ("delay", 0.75), "time after the end does not count"


def test_one_moment_does_not_change_the_current_bottleneck_but_several_do(summary):
    times = BottleneckTimes()
    resting = replace(summary, elapsed=1.0, queued=9, resting="delay")
    asking = replace(summary, elapsed=1.0, downloaders=at_work(1))

    for now in (resting, resting, resting, asking):
        times.add(summary, now)
    assert times.current.name == "delay"

    for _ in range(9):
        times.add(summary, asking)
    assert times.current.name == "servers"
