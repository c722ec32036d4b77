"""Each measurement runs, with numbers too small to mean anything."""

import json
import os
import subprocess
import sys

import pytest

from crawler.bench import crawl, history

COMMANDS = {
    "crawl": ["--pages", "30", "--repeats", "1", "--concurrency", "4"],
    "fetch": ["--requests", "20", "--repeats", "1"],
    "frontier": ["--scale", "0.001", "--repeats", "1"],
    "links": ["--pages", "2", "--repeats", "1"],
    "pool": ["--number", "50", "--repeats", "1"],
    "profile": ["--pages", "100", "--concurrency", "4"],
}
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
    for samples in report["rows"].values():
        assert all(value >= 0 for values in samples.values() for value in values)


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

    assert report["setting"]["hosts"] == 7
    assert crawl.OURS.name in report["rows"]


def test_analyzers_are_compared_on_the_same_pages(bench):
    report = json.loads(bench("analyzers", "--pages", "6", "--repeats", "1", "--json").stdout)

    assert {row: len(samples["pages/s"]) for row, samples in report["rows"].items()} == {
        "0": 1,
        "2": 1,
    }
    [target] = report["targets"]
    rates = [report["rows"][row]["pages/s"][0] for row in ("2", "0")]
    assert target["value"] == pytest.approx(rates[0] / rates[1])


def test_the_profile_shares_the_whole_cost_out_between_stages(bench):
    report = json.loads(bench("profile", *COMMANDS["profile"], "--json").stdout)

    costs = {name: samples["cpu_us"][0] for name, samples in report["rows"].items()}
    stages = {name: cost for name, cost in costs.items() if name.startswith("stage ")}
    assert sum(stages.values()) == pytest.approx(sum(costs.values()) - sum(stages.values()))
    assert "stage parse and links" in stages


def test_other_frameworks_are_asked_for_by_the_name_of_the_extra(bench, monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", lambda _: None)

    with pytest.raises(
        ValueError, match=r"scrapy is not installed: pip install 'crawler\[bench\]'"
    ):
        crawl.peers(["scrapy"])
    refused = bench("crawl", "--peers", "nutch", check=False)
    assert refused.returncode == 2
    assert "'nutch' is no peer; there are scrapy, crawlee" in refused.stderr


@pytest.mark.parametrize("peer", crawl.PEERS)
def test_other_frameworks_crawl_the_whole_site(bench, peer):
    pytest.importorskip(peer)

    report = json.loads(bench("crawl", *COMMANDS["crawl"], "--peers", peer, "--json").stdout)

    assert crawl.PEERS[peer].name in report["rows"]
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
    assert "pool: gevent Queue" in bench("history").stdout
    assert history.trends(tmp_path / "crawler" / "bench-history.jsonl")


def test_history_of_nothing(bench):
    assert bench("history").stdout == "nothing was measured yet\n"
