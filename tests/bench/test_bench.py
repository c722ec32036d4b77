"""Each benchmark runs, with numbers too small to be meaningful."""

import json
import os
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import pytest

from crawler.bench import crawl
from crawler.bench.measuring import history
from crawler.bench.parts import analyzers, fetch, frontier
from crawler.bench.sites.shape import Shape
from crawler.cli.commands.bench import crawls, parts
from crawler.cli.commands.bench.options import print_and_save

from .conftest import ANY

COMMANDS = {
    "crawl": ["--pages", "30", "--repeats", "1", "--concurrency", "4", "--peers", "none"],
    "fetch": ["--requests", "20", "--repeats", "1"],
    "frontier": ["--scale", "0.001", "--repeats", "1"],
    "links": ["--pages", "2", "--repeats", "1"],
    "pool": ["--number", "50", "--repeats", "1"],
}
FIRST_ROWS = {
    "crawl": "bare loop",
    "fetch": "bare libcurl",
    "frontier": "10 hosts",
    "links": "ours",
    "pool": "gevent Queue",
}


@pytest.mark.parametrize("command", FIRST_ROWS)
def test_prints_a_table_that_has_ratios_before_times_or_every_sample_as_json(
    bench, monkeypatch, command
):
    """One run is printed in both forms: it takes seconds."""

    def print_twice(report, text, *, history, as_json):
        print_and_save(report, text, history=history, as_json=False)
        print_and_save(report, text, history=history, as_json=True)

    for module in (crawls, parts):
        monkeypatch.setattr(module, "print_and_save", print_twice)
    # Two rows are enough: each is measured in a process of its own.
    monkeypatch.setattr(crawl, "OWN", (crawl.BARE, crawl.OFF))
    monkeypatch.setattr(fetch, "_SHAPE", Shape(20))
    monkeypatch.setattr(fetch, "ROWS", dict(islice(fetch.ROWS.items(), 2)))
    monkeypatch.setattr(
        frontier, "rows", lambda scale, rows=frontier.rows: dict(islice(rows(scale).items(), 2))
    )
    done = bench(command, *COMMANDS[command], code=ANY)
    *lines, last = done.stdout.splitlines()

    head = next(line for line in lines if "µs" in line)
    first = lines[lines.index(head) + 1]
    assert head.index("×") < head.index("µs")
    assert first.startswith(FIRST_ROWS[command])
    assert "1.00" in first
    report = json.loads(last)
    is_met = all(target["holds"] for target in report["targets"])
    assert done.returncode == (0 if is_met else 5), done.stderr
    assert report["command"] == command
    assert next(iter(report["rows"])) == FIRST_ROWS[command]
    assert report["failures"] == []
    for samples in report["rows"].values():
        assert samples
        assert all(len(values) == 1 and values[0] > 0 for values in samples.values())


def test_analyzers_are_compared_on_the_same_pages(bench, monkeypatch):
    monkeypatch.setattr(analyzers, "_compiled", nullcontext)  # what runs tests has compiled them

    report = json.loads(bench("analyzers", "--pages", "3", "--repeats", "1", "--json").stdout)

    [target] = report["targets"]
    without, two = (row["pages_per_second"][0] for row in report["rows"].values())
    assert list(report["rows"]) == ["0 analyzers", "2 analyzers"]
    assert target["value"] == pytest.approx(two / without)


def test_the_modules_of_analyzers_are_compiled_into_a_folder_that_is_removed(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    before = dict(os.environ)

    with analyzers._compiled():
        folder = Path(os.environ["PYTHONPYCACHEPREFIX"])
        assert folder.is_dir()
        assert "PYTHONDONTWRITEBYTECODE" not in os.environ

    assert not folder.exists()
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("profile", "--functions", "-3"), "-3 is not in the range"),
        (
            ("profile", "--plain", "--pages", "9", "--hosts", "10"),
            "hosts must be from 1 to the 9 pages",
        ),
        (("frontier", "--scale", "0.0001"), "scale must be from 0.001 to 1, not 0.0001"),
        (("crawl", "--plain", "--links", "30"), "links must be 31 or more, not 30"),
        (
            ("crawl", "--peers", "nutch"),
            "'nutch' is not a known program; known are wget2, scrapy, crawlee",
        ),
        (("pool", "--history", "/dev/null/x"), "use --history to name another file"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_measured(bench, words, complaint):
    refused = bench(*words, code=2)

    assert refused.stdout == ""
    assert complaint in refused.stderr


def test_a_result_that_cannot_be_saved_is_printed(bench):
    shown = bench("pool", *COMMANDS["pool"], "--history", "/dev/full", code=6)

    assert "gevent Queue" in shown.stdout
    assert "the result cannot be saved: " in shown.stderr


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
    assert bench("history").stdout == "nothing has been measured yet\n"
