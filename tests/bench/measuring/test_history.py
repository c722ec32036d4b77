"""The results of earlier runs."""

import json

import pytest

from crawler import __version__
from crawler.bench.measuring.history import append, show, trends
from crawler.bench.measuring.report import Report
from crawler.bench.parts import analyzers


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "somewhere" / "results.jsonl"


def test_history_marks_what_has_got_worse(kept):
    for cpu, rate in ((100.0, 10.0), (110.0, 10.0), (90.0, 10.0), (125.0, 7.0)):
        rows = {"ours": {"cpu_us": [cpu, cpu, 1000.0], "pages_per_second": [rate]}}
        append(kept, Report("crawl", {"pages": 5}, rows))
    append(kept, Report("crawl", {"pages": 6}, {"ours": {"cpu_us": [500.0]}}))

    cpu, rate, other = trends(kept)

    assert (cpu.values, cpu.change, cpu.is_worse) == ([100.0, 110.0, 90.0, 125.0], 0.25, True)
    assert (round(rate.change, 2), rate.is_worse) == (-0.3, True)
    assert (other.change, other.is_worse) == (None, False)
    head, _, line = show([cpu], last=2).splitlines()
    assert head == f"crawl: pages 5; last run {cpu.last}, version {__version__}"
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


def test_more_pages_per_second_are_not_worse(kept):
    for rate in (100.0, 200.0):
        append(kept, Report("analyzers", {}, {"2": {analyzers._RATE: [rate]}}))

    [trend] = trends(kept)

    assert (trend.change, trend.is_worse) == (1.0, False)


def test_functions_are_not_saved(kept):
    rows = {"stage fetch": {"cpu_us": [1.0]}, "crawler.url:join:7": {"own_us": [1.0]}}
    append(kept, Report("profile", {}, rows))

    assert [trend.row for trend in trends(kept)] == ["stage fetch"]


def test_runs_with_different_settings_are_not_compared(kept):
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
def test_an_invalid_line_is_an_error_with_its_number(kept, line):
    append(kept, Report("crawl", {}, {}))
    with kept.open("ab") as file:
        file.write(line + b"\n")

    with pytest.raises(ValueError, match=r"results.jsonl:2 is not a result"):
        trends(kept)
