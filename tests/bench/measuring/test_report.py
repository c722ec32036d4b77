"""What reports say, and what is made of those that were kept."""

import io
import json
import random
import sys
import urllib.request

import pytest
from click.testing import CliRunner

from crawler import __version__
from crawler.bench import crawl, scale
from crawler.bench.kill import kills as kill
from crawler.bench.measuring.history import append, show, trends
from crawler.bench.measuring.report import Report, Target, spread, table, times
from crawler.bench.measuring.sampling import Sampler, _stage
from crawler.bench.parts import analyzers, frontier, pool
from crawler.cli.commands import bench as commands
from crawler.feed import FeedError
from crawler.testing import LoopbackSite


def test_a_target_says_if_it_holds():
    assert str(Target("ours, of theirs", 1.5, 1.6)) == "yes ours, of theirs: 1.50 (≤ 1.6)"
    assert str(Target("ours, of theirs", 1.7, 1.6)) == "NO  ours, of theirs: 1.70 (≤ 1.6)"
    assert Target("theirs, of ours", 8.0, 8.0, at_least=True).holds
    assert not Target("theirs, of ours", 7.9, 8.0, at_least=True).holds


def test_ratios_are_taken_repeat_by_repeat():
    assert times([10.0, 40.0], [5.0, 20.0]) == [2.0, 2.0]
    assert spread([3.0, 1.0, 2.0]) == "2 [1–3]"
    assert spread([1.26], 1) == "1.3"
    assert spread([]) == ""


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
    contenders = {
        "bare": crawl.BARE,
        "ours": crawl.OURS,
        "durable": crawl.DURABLE,
        "scrapy": crawl.SCRAPY,
        "crawlee": crawl.CRAWLEE,
        "lean": crawl.LEAN_CRAWLEE,
    }
    rows = crawled(bare=100.0, ours=150.0, durable=200.0, scrapy=900.0, crawlee=2400.0, lean=300.0)

    def targets(*names):
        found = crawl._targets({contenders[name].name: rows[name] for name in names})
        return [(round(target.value, 2), target.bound, target.holds) for target in found]

    ours, durable, scrapy, crawlee = (
        (1.5, 1.6, True),
        (0.75, 0.8, False),
        (6.0, 8.0, False),
        (16.0, 15.0, True),
    )
    assert targets(*contenders) == [ours, durable, scrapy, crawlee]
    assert targets("bare", "ours", "lean") == [ours]
    assert targets("bare", "scrapy") == []


def test_a_table_of_crawls_has_a_ratio_for_every_row():
    setting = {"pages": 9, "size": 9, "links": 31, "hosts": 1, "concurrency": 1, "server": "nginx"}
    rows = {crawl.BARE.name: 100.0, crawl.CRAWLEE.name: 2400.0, crawl.LEAN_CRAWLEE.name: 300.0}

    lines = crawl.show(Report("crawl", setting, crawled(**rows))).splitlines()

    assert lines[3].split()[:4] == ["Crawlee,", "as", "documented", "24.00"]
    assert lines[4].split()[:3] == ["Crawlee,", "tuned", "3.00"]


def test_targets_of_the_frontier_are_for_the_worst_row():
    rows = {
        "10 hosts": {"admit": [10.0] * 3, "cycle": [20.0, 22.0, 10.0]},
        "steep": {"admit": [12.0] * 3, "cycle": [32.0, 22.0, 16.0]},
        "flat": {"admit": [11.0] * 3, "cycle": [21.0, 22.0, 30.0]},
        "fat": {"admit": [9.0] * 3, "megabytes": [201.0, 150.0, 300.0]},
    }

    cycle, memory = frontier._targets(rows, 1.0)
    [alone] = frontier._targets(rows, 0.5)

    assert (cycle.value, cycle.holds) == (1.6, False)
    assert (memory.value, memory.holds) == (201.0, False)
    assert alone == cycle
    assert frontier._targets({"10 hosts": rows["10 hosts"]}, 1.0) == []
    lines = frontier.show(Report("frontier", {}, rows)).splitlines()
    assert "1.60 [1.00–1.60]" in lines[2]
    assert lines[4].endswith("201.0 [150.0–300.0]")


def test_every_row_of_the_frontier_has_a_name_of_its_own():
    assert len(frontier.rows(1.0)) == len(frontier.rows(frontier.LEAST_SCALE)) == 8


def test_the_promise_of_the_pool_is_about_its_median(monkeypatch):
    found = {"gevent Queue": [9.0] * 3, "Pool, empty": [1.0, 4.0, 5.0]}
    monkeypatch.setattr(pool.Child, "run", lambda *_: {"samples": found})

    [target] = pool.run(1, 3).targets

    assert (target.value, target.holds) == (4.0, False)


def test_growth_is_told_for_a_hundred_thousand_urls():
    small, first, last, spread_out = sizes = (
        *(scale.Size(pages, 1) for pages in (1000, 20_000, 70_000)),
        scale.Size(20_000, 10),
    )
    used = zip(sizes, (50.0, 60.0, 68.0, 90.0), strict=True)
    rows = {str(size): {"rss_mb": [mb]} for size, mb in used}

    memory, growth = scale._memory(sizes, rows)

    assert (memory.value, memory.holds) == (60.0, True)
    assert (growth.value, growth.holds) == (16.0, False)
    assert scale._memory((small, first, spread_out), rows) == []
    assert scale._memory((small, last), rows) == []


def test_a_sample_belongs_to_the_nearest_part_that_has_a_stage():
    assert _stage("crawler.spider.links", "_anchors") == "parse and links"
    assert _stage("crawler.spider.resolve_href", "__call__") == "resolve"
    assert _stage("crawler.frontier.frontier", "admit") == "admit: scope, seen, traps"
    assert _stage("crawler.frontier.admission.scope", "refusal") is None
    assert _stage("crawler.url", "canonicalize") is None


def test_a_sample_of_none_of_our_parts_belongs_to_the_rest():
    sampler = Sampler()

    sampler.take(0, sys._getframe())

    assert sampler.stages == {"rest": 1}
    [(module, _, function)] = sampler.functions
    assert (module, function) == (__name__, sys._getframe().f_code.co_name)


# -- kills --------------------------------------------------------------------------------------


KILLED = {
    "anywhere": {
        "kills": [1, 1],
        "trials": [1, 1],
        "lost": [0, 0],
        "doubled": [0, 0],
        "refetched": [3, 0, 12, 0],
    },
    "five in a row": {
        "kills": [5],
        "trials": [1],
        "lost": [0],
        "doubled": [0],
        "refetched": [0, 70, 0, 10, 0, 0],
    },
}


def killed(lost=0):
    rows = KILLED | {"anywhere": KILLED["anywhere"] | {"lost": [0, lost]}}
    return Report("kill", {"pages": 400}, rows, kill._targets(rows, 0))


def test_what_kills_cost_is_told_by_the_kill():
    shown = kill.show(killed()).splitlines()

    assert shown[2].split() == [*["anywhere", "2", "2", "0", "0", "7.5,", "at", "most", "12"]]
    assert shown[3].split() == [
        *["five", "in", "a", "row", "1", "5", "0", "0", "16.0,", "at", "most", "70"]
    ]
    assert "pages fetched again for a kill, at most: 70.00 (≤ 72)" in "\n".join(shown)


@pytest.mark.parametrize(("lost", "code"), [(0, 0), (1, 5)])
def test_the_exit_code_tells_that_pages_were_lost(lost, code, kept, monkeypatch):
    monkeypatch.setattr(kill, "run", lambda *_, **__: killed(lost))

    ended = CliRunner().invoke(commands.bench, ["kill", "--history", str(kept)])

    assert (ended.exit_code, f"pages lost: {lost}.00" in ended.stdout) == (code, True)


def test_a_page_asked_for_again_was_lost_by_who_had_asked_before(tmp_path):
    with LoopbackSite(dict.fromkeys(("/robots.txt", "/a", "/b", "/c"), "")) as site:
        trial = kill.Trial(tmp_path, site, random.Random(0))
        for paths in (["/robots.txt", "/a", "/b"], ["/robots.txt", "/b"], ["/a", "/b", "/c", "/c"]):
            for path in paths:
                urllib.request.urlopen(site.url(path), timeout=5).close()
            trial.marks.append(len(site.requests))
        trial.marks.pop()

    assert trial.refetched_for() == [2, 1, 1]
    assert trial.refetched == 4


def test_who_lacks_an_extra_is_told_its_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(FeedError, match=r"crawler\[parquet\]"):
        kill.run(1)


# -- history ------------------------------------------------------------------------------------


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
    head, _, line = show([cpu], last=2).splitlines()
    assert head == f"crawl: pages 5; the last at {cpu.last}, version {__version__}"
    assert line.split() == ["ours", "cpu_us", "+25%", "WORSE", "90", "125"]


def test_what_has_got_better_is_not_worse(kept):
    for cpu, rate in ((100.0, 10.0), (50.0, 20.0)):
        rows = {"ours": {"cpu_us": [cpu], "pages_per_second": [rate]}}
        append(kept, Report("crawl", {}, rows))

    assert [trend.is_worse for trend in trends(kept)] == [False, False]


def test_one_page_that_was_lost_is_worse_than_none(kept):
    for lost in (0, 0, 7):
        samples = {"lost": [0.0] * 30 + [lost], "kills": [1.0] * 31}
        append(kept, Report("kill", {}, {"anywhere": samples}))

    [trend] = trends(kept)

    assert (trend.measure, trend.values, trend.is_worse) == ("lost", [0, 0, 7], True)


def test_what_analyzers_are_worth_is_told_as_a_target():
    rows = {
        "0 analyzers": {analyzers._RATE: [100.0], "cpu_ms": [6.0]},
        "2 analyzers": {analyzers._RATE: [160.0], "cpu_ms": [7.0]},
    }
    report = Report("analyzers", {"pages": 9}, rows, analyzers._targets(rows))

    assert [(target.value, target.holds) for target in report.targets] == [(1.6, True)]
    assert "2 analyzers, of those without: 1.60 (≥ 1.5)" in analyzers.show(report)
    assert analyzers._targets({"0 analyzers": rows["0 analyzers"]}) == []


def test_more_pages_a_second_are_no_worse_whoever_counts_them(kept):
    for rate in (100.0, 200.0):
        append(kept, Report("analyzers", {}, {"2": {analyzers._RATE: [rate]}}))

    [trend] = trends(kept)

    assert (trend.change, trend.is_worse) == (1.0, False)


def test_functions_are_not_kept(kept):
    rows = {"stage fetch": {"cpu_us": [1.0]}, "crawler.url:join:7": {"own_us": [1.0]}}
    append(kept, Report("profile", {}, rows))

    assert [trend.row for trend in trends(kept)] == ["stage fetch"]


def test_runs_of_different_settings_are_told_apart(kept):
    for pages in (5, 6, 5):
        append(kept, Report("crawl", {"pages": pages}, {"ours": {"cpu_us": [float(pages)]}}))

    five, six = show(trends(kept), last=8).split("\n\n")

    assert five.startswith("crawl: pages 5; ")
    assert five.endswith("5 5")
    assert six.startswith("crawl: pages 6; ")


GOOD = {"at": "", "command": "x", "setting": {}, "rows": {"a": {"us": 1}}}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"{}",
        b"",
        b'"\xff"',
        b"[" * 100_000,
        *(
            json.dumps(GOOD | {name: wrong}).encode()
            for name, wrong in [
                ("at", 1),
                ("command", ["x"]),
                ("version", None),
                ("setting", ["pages"]),
                ("rows", 1),
                ("rows", {"a": 1}),
                ("rows", {"a": {"us": "1"}}),
                ("rows", {"a": {"us": None}}),
                ("rows", {"a": {"us": float("nan")}}),
                ("rows", {"a": {"us": 10**400}}),
            ]
        ),
    ],
)
def test_a_line_that_is_no_result_is_named(kept, line):
    append(kept, Report("crawl", {}, {}))
    with kept.open("ab") as file:
        file.write(line + b"\n")

    with pytest.raises(ValueError, match=r"results.jsonl:2 is no result"):
        trends(kept)


# -- while it runs ------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("term", "shown"), [("dumb", "1/3 ours\n"), ("xterm", "\r\033[K1/3 ours\r\033[K")]
)
def test_only_a_terminal_that_can_go_back_is_told_to(term, shown, monkeypatch):
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys, "stderr", Terminal())

    commands._tell("1/3 ours")
    commands._tell("")

    assert sys.stderr.getvalue() == shown
