"""Each measurement runs, with numbers too small to mean anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.bench import crawl, profile, scale
from crawler.bench.measuring import history
from crawler.bench.measuring.child import BenchError
from crawler.bench.measuring.rounds import interleaved
from crawler.bench.parts import fetch
from crawler.bench.sites.shape import Shape
from crawler.cli.commands import bench as commands

COMMANDS = {
    "crawl": ["--pages", "30", "--repeats", "1", "--concurrency", "4"],
    "fetch": ["--requests", "20", "--repeats", "1"],
    "frontier": ["--scale", "0.001", "--repeats", "1"],
    "links": ["--pages", "2", "--repeats", "1"],
    "pool": ["--number", "50", "--repeats", "1"],
    "profile": ["--pages", "100", "--hosts", "3", "--concurrency", "4"],
}
OWN_CONTENDERS = (crawl.BARE, crawl.OURS, crawl.RECORDS, crawl.DURABLE)
#: It says it had every page, and fetched one.
CHEAT = "test_site:crawl_a_part"
FIRST_ROWS = {
    "crawl": "bare loop",
    "fetch": "bare libcurl",
    "frontier": "10 hosts",
    "links": "ours",
    "pool": "gevent Queue",
}


@pytest.fixture
def bench(tmp_path):
    """Run a command of the group; its results are kept apart from anybody's own."""

    def run(*words, check=True):
        command = [sys.executable, "-m", "crawler", "bench", *words]
        environment = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=50, check=check, env=environment
        )

    return run


@pytest.mark.parametrize("command", FIRST_ROWS)
def test_prints_a_table_that_has_ratios_before_times(bench, command):
    lines = bench(command, *COMMANDS[command]).stdout.splitlines()

    head = next(line for line in lines if "µs" in line)
    first = lines[lines.index(head) + 1]
    assert head.index("×") < head.index("µs")
    assert first.startswith(FIRST_ROWS[command])
    assert "1.00" in first


@pytest.mark.parametrize("command", [name for name in FIRST_ROWS if name != "crawl"])
def test_prints_every_sample_as_json(bench, command):
    report = json.loads(bench(command, *COMMANDS[command], "--json").stdout)

    assert report["command"] == command
    assert next(iter(report["rows"])) == FIRST_ROWS[command]
    assert report["failures"] == []
    for samples in report["rows"].values():
        assert samples
        assert all(len(values) == 1 and values[0] > 0 for values in samples.values())


def test_a_crawl_has_a_sample_for_each_repeat_and_says_if_the_limit_is_kept(bench):
    words = [*COMMANDS["crawl"], "--repeats", "2"]
    report = json.loads(bench("crawl", *words, "--json").stdout)

    assert report["setting"]["pages"] == 30
    assert {len(samples["cpu_us"]) for samples in report["rows"].values()} == {2}
    limit, durable = report["targets"]
    assert (limit["bound"], durable["bound"]) == (1.6, 0.8)
    assert limit["holds"] == (limit["value"] <= 1.6)
    assert durable["holds"] == (durable["value"] >= 0.8)


def test_a_crawl_over_several_hosts_is_complete_too(bench):
    report = json.loads(bench("crawl", *COMMANDS["crawl"], "--hosts", "7", "--json").stdout)

    assert (report["setting"]["hosts"], report["setting"]["per_host"]) == (7, 2)
    assert crawl.OURS.name in report["rows"]


def test_analyzers_are_compared_on_the_same_pages(bench):
    report = json.loads(bench("analyzers", "--pages", "6", "--repeats", "1", "--json").stdout)

    [target] = report["targets"]
    without, two = (row["pages_per_second"][0] for row in report["rows"].values())
    assert list(report["rows"]) == ["0 analyzers", "2 analyzers"]
    assert target["value"] == pytest.approx(two / without)


def test_the_profile_shares_the_whole_cost_out_between_stages(bench):
    report = json.loads(bench("profile", *COMMANDS["profile"], "--json").stdout)

    by_stage, by_function = (
        sum(samples[measure][0] for samples in report["rows"].values() if measure in samples)
        for measure in ("cpu_us", "own_us")
    )
    assert by_stage == pytest.approx(by_function)
    assert "stage parse and links" in report["rows"]


def test_a_profile_of_a_part_is_none(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(profile, "_WATCHED", crawl.Contender("cheat", CHEAT))

    with pytest.raises(BenchError, match="not comparable: of 5 pages cheat had 5"):
        profile.run(Shape(5), concurrency=1)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("profile", "--functions", "-3"), "-3 is not in the range"),
        (("profile", "--pages", "9", "--hosts", "10"), "hosts must be from 1 to the 9 pages"),
        (("frontier", "--scale", "0.0001"), "scale must be from 0.001 to 1, not 0.0001"),
        (("crawl", "--links", "30"), "links must be 31 or more, not 30"),
        (("crawl", "--peers", "nutch"), "'nutch' is no peer; there are scrapy, crawlee"),
        (("pool", "--history", "/dev/null/x"), "--history names another file"),
    ],
)
def test_what_cannot_be_measured_or_kept_is_refused_before(bench, words, complaint):
    refused = bench(*words, check=False)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert complaint in refused.stderr


def test_a_result_that_cannot_be_kept_is_shown_all_the_same(bench):
    shown = bench("pool", *COMMANDS["pool"], "--history", "/dev/full", check=False)

    assert shown.returncode == 6
    assert "gevent Queue" in shown.stdout
    assert "the result cannot be kept: " in shown.stderr


def test_who_fails_is_named_and_the_others_are_shown(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    cheat = crawl.Contender("cheat", CHEAT)

    report = crawl.run(Shape(5), concurrency=1, repeats=1, others=[cheat])

    assert list(report.rows) == [one.name for one in OWN_CONTENDERS]
    assert len(report.targets) == 2
    with pytest.raises(BenchError, match=r"^cheat: not comparable"):
        commands._end(report, crawl.show(report), history=tmp_path / "kept", as_json=False)
    assert crawl.DURABLE.name in capsys.readouterr().out
    assert history.trends(tmp_path / "kept")


def test_without_a_limit_there_are_rows_and_no_ratios(monkeypatch):
    monkeypatch.setattr(crawl, "BARE", crawl.Contender(crawl.BARE.name, "nowhere:crawl"))
    monkeypatch.setattr(fetch, "ROWS", {name: fetch.ROWS[name] for name in ("CurlFetch",)})
    monkeypatch.setattr(fetch, "find_spec", bool)

    crawled = crawl.run(Shape(5), concurrency=1, repeats=1)
    fetched = fetch.run(5, 1)

    assert [failure.partition(":")[0] for failure in crawled.failures] == ["bare loop"]
    assert [target.bound for target in crawled.targets] == [0.8]
    assert fetched.targets == []
    assert "×" in crawl.show(crawled)
    assert "CurlFetch" in fetch.show(fetched)


def test_nothing_measured_is_an_error():
    def fail(name):
        raise BenchError(f"{name} is ill")

    with pytest.raises(BenchError, match="a: a is ill; b: b is ill"):
        interleaved(["a", "b"], 2, fail, bool)


def test_a_row_that_fails_later_is_none():
    left = {"a": [1.0, 2.0], "b": [3.0]}

    def measure(name):
        if not left[name]:
            raise BenchError("it is ill")
        return {"us": left[name].pop(0)}

    assert interleaved(left, 2, measure, bool) == ({"a": {"us": [1.0, 2.0]}}, ["b: it is ill"])


def test_without_requests_its_row_is_left_out(monkeypatch):
    monkeypatch.setattr(fetch, "find_spec", lambda _: None)
    monkeypatch.setattr(fetch, "CONCURRENCY", 2)

    report = fetch.run(5, 1)

    assert list(report.rows) == [name for name in fetch.ROWS if "requests" not in name]
    assert "pip install 'crawler[requests]'" in fetch.show(report)


def test_sites_of_all_sizes_are_compared_small_ones_by_several_crawls(monkeypatch):
    sizes = (scale.Size(5, 1), scale.Size(12, 1), scale.Size(12, 3))
    crawled = []

    def sample(site, contender, concurrency):
        crawled.append((site.shape.pages, contender.name))
        return crawl.sample(site, contender, concurrency)

    monkeypatch.setattr(scale, "_ENOUGH", 10)
    monkeypatch.setattr(scale, "sample", sample)

    report = scale.run(sizes, 1)

    both = ("our crawl", "bare loop")
    assert crawled == [(pages, name) for pages in (5, 5, 12, 12) for name in both]
    shown = scale.show(report).splitlines()
    assert [line[: len(str(size))] for line, size in zip(shown[1:], sizes, strict=False)] == [
        "5 pages, 1 host",
        "12 pages, 1 host",
        "12 pages, 3 hosts",
    ]
    assert shown[1].split()[4] == "1.00"
    assert [target.bound for target in report.targets] == [scale.MOST_TIMES] * 2
    assert "2 to a host" in report.notes[0]


def test_other_frameworks_are_asked_for_by_the_name_of_the_extra(monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", lambda _: None)

    with pytest.raises(
        ValueError, match=r"scrapy is not installed: pip install 'crawler\[bench\]'"
    ):
        crawl.peers(["scrapy"])


def test_a_peer_that_is_named_twice_is_measured_once(monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", bool)

    assert crawl.peers(["crawlee", "scrapy", "crawlee"]) == [
        crawl.CRAWLEE,
        crawl.LEAN_CRAWLEE,
        crawl.SCRAPY,
    ]


@pytest.mark.parametrize("peer", crawl.PEERS)
def test_other_frameworks_crawl_the_whole_site(bench, peer):
    pytest.importorskip(peer)

    report = json.loads(bench("crawl", *COMMANDS["crawl"], "--peers", peer, "--json").stdout)

    assert list(report["rows"]) == [one.name for one in (*OWN_CONTENDERS, *crawl.PEERS[peer])]
    assert len(report["targets"]) == 3


def test_history_compares_a_run_with_those_before(bench, tmp_path):
    for _ in range(2):
        bench("pool", *COMMANDS["pool"])
    bench("pool", "--number", "60", "--repeats", "1")

    trends = json.loads(bench("history", "--json").stdout)

    same = [trend for trend in trends if json.loads(trend["setting"]) == {"number": 50}]
    assert {len(trend["values"]) for trend in same} == {2}
    assert all(trend["change"] is not None for trend in same)
    assert {trend["change"] for trend in trends if trend not in same} == {None}
    assert "pool: number 60; " in bench("history").stdout
    assert history.trends(tmp_path / "crawler" / "bench-history.jsonl")


def test_history_of_nothing(bench):
    assert bench("history").stdout == "nothing was measured yet\n"
