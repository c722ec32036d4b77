"""What reports say, and what is made of those that were kept."""

import pytest

from crawler.bench import crawl, frontier, scale
from crawler.bench.history import append, show, trends
from crawler.bench.report import Report, Target, spread, table, times
from crawler.bench.sampling import REST, _stage


def test_a_target_says_if_it_holds():
    assert str(Target("ours, of theirs", 1.5, 1.6)) == "yes ours, of theirs: 1.50 (≤ 1.6)"
    assert str(Target("ours, of theirs", 1.7, 1.6)) == "NO  ours, of theirs: 1.70 (≤ 1.6)"
    assert Target("theirs, of ours", 8.0, 8.0, at_least=True).holds
    assert not Target("theirs, of ours", 7.9, 8.0, at_least=True).holds


def test_ratios_are_taken_repeat_by_repeat():
    assert times([10.0, 40.0], [5.0, 20.0]) == [2.0, 2.0]
    assert spread([3.0, 1.0, 2.0]) == "2 [1–3]"
    assert spread([1.26], 1) == "1.3"


def test_columns_are_aligned():
    assert table(("row", "µs"), [("a", "1"), ("longer", "100")]).splitlines() == [
        "row      µs",
        "a         1",
        "longer  100",
    ]


def crawled(**cpu):
    samples = {"pages_per_second": [1.0, 1.0], "rss_mb": [50.0, 60.0]}
    return {name: {"cpu_us": [us, us * 2], **samples} for name, us in cpu.items()}


def test_targets_of_a_crawl_are_those_of_the_rows_there_are():
    contenders = {"bare": crawl.BARE, "ours": crawl.OURS, "durable": crawl.DURABLE} | crawl.PEERS
    rows = crawled(bare=100.0, ours=150.0, durable=200.0, scrapy=900.0)

    targets = crawl._targets({contenders[name].name: samples for name, samples in rows.items()})

    assert [(round(target.value, 2), target.bound, target.holds) for target in targets] == [
        (1.5, 1.6, True),
        (0.75, 0.8, False),
        (6.0, 8.0, False),
    ]


def test_targets_of_the_frontier_are_for_the_worst_row():
    rows = {
        "10 hosts": {"admit": [10.0], "cycle": [20.0, 22.0]},
        "steep": {"admit": [12.0], "cycle": [31.0, 30.1]},
        "flat": {"admit": [11.0], "cycle": [21.0]},
        "fat": {"admit": [9.0], "megabytes": [201.0]},
    }

    cycle, memory = frontier._targets(rows, 1.0)
    [alone] = frontier._targets(rows, 0.5)

    assert (round(cycle.value, 3), cycle.holds) == (1.505, False)
    assert (memory.value, memory.holds) == (201.0, False)
    assert alone == cycle


def test_every_row_of_the_frontier_has_a_name_of_its_own():
    assert len(frontier.rows(1.0)) == len(frontier.rows(0.001)) == 8


def test_growth_is_told_for_a_hundred_thousand_urls():
    sizes = (scale.Size(1000, 1), scale.Size(51_000, 1), scale.Size(1000, 10))
    rows = {str(size): {"rss_mb": [mb]} for size, mb in zip(sizes, (60.0, 64.0, 90.0), strict=True)}

    [line] = scale._memory(sizes, rows)

    assert line == "60 MB at 1,000 pages; +8.0 MB for each further 100,000 URLs seen"


def test_a_sample_belongs_to_the_nearest_part_that_has_a_stage():
    assert _stage("crawler.spider.links", "_anchors") == "parse and links"
    assert _stage("crawler.spider.join", "__call__") == "resolve"
    assert _stage("crawler.frontier.frontier", "admit") == "admit: scope, seen, traps"
    assert _stage("crawler.frontier.scope", "refusal") is None
    assert _stage("crawler.url", "canonicalize") is None
    assert REST == "rest"


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "somewhere" / "results.jsonl"


def test_history_tells_what_has_got_worse(kept):
    for cpu, rate in ((100.0, 10.0), (110.0, 10.0), (90.0, 10.0), (125.0, 7.0)):
        rows = {"ours": {"cpu_us": [cpu, cpu, 1000.0], "pages_per_second": [rate]}}
        append(kept, Report("crawl", {"pages": 5}, rows))
    append(kept, Report("crawl", {"pages": 6}, {"ours": {"cpu_us": [500.0]}}))

    cpu, rate, other = trends(kept)

    assert (cpu.values, cpu.change, cpu.is_worse) == ([100.0, 110.0, 90.0, 125.0], 0.25, True)
    assert (round(rate.change, 2), rate.is_worse) == (-0.3, True)
    assert (other.change, other.is_worse) == (None, False)
    lines = show([cpu], last=2).splitlines()
    assert lines[1].split() == ["crawl:", "ours", "cpu_us", "+25%", "WORSE", "90", "125"]


def test_what_has_got_better_is_not_worse(kept):
    for cpu, rate in ((100.0, 10.0), (50.0, 20.0)):
        rows = {"ours": {"cpu_us": [cpu], "pages_per_second": [rate]}}
        append(kept, Report("crawl", {}, rows))

    assert [trend.is_worse for trend in trends(kept)] == [False, False]


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"command": "x", "setting": {}, "rows": 1}'])
def test_a_line_that_is_no_result_is_named(kept, line):
    append(kept, Report("crawl", {}, {}))
    with kept.open("a") as file:
        file.write(line + "\n")

    with pytest.raises(ValueError, match=r"results.jsonl:2 is no result"):
        trends(kept)
