"""The benchmark of pages made to take long."""

import json

import pytest

from crawler.bench import hostile
from crawler.bench.measuring.report import Report
from crawler.bench.sites.hostile_pages import PAGES

ROWS = {
    "<a>": {"read_s": [0.4], "select_s": [0.1]},
    "<b>": {"read_s": [0.2], "select_s": [0.3]},
    "a host alone": {"pages_per_second": [10.0, 12.0, 8.0]},
    "the host beside a hostile one": {"pages_per_second": [8.0, 9.5, 9.6]},
}


def test_the_targets_are_for_the_worst_page_and_the_usual_rate():
    read, select, rate = hostile._targets(ROWS)

    assert (read.value, read.holds) == (0.4, True)
    assert (select.value, select.holds) == (0.3, True)
    assert "'<b>'" in select.text
    assert (rate.value, rate.holds) == (0.95, True)


def test_every_kind_of_page_is_read_and_another_host_is_crawled(monkeypatch):
    few = {name: PAGES[name] for name in ("<div>", "news", "a sitemap")}
    monkeypatch.setattr(hostile, "PAGES", few)
    monkeypatch.setattr(hostile.Child, "run", lambda child, _: hostile.measure(**child.arguments))

    report = hostile.run(2000, 3, 1)

    assert list(report.rows)[:3] == list(few)
    assert all(value > 0 for row in report.rows.values() for [value] in row.values())
    assert "the 3 worst of 3 kinds" in hostile.show(report)


@pytest.mark.parametrize(("rate", "code"), [(9.0, 0), (8.0, 5)])
def test_a_missed_target_is_an_exit_code(bench, monkeypatch, rate, code):
    rows = ROWS | {"the host beside a hostile one": {"pages_per_second": [rate]}}
    monkeypatch.setattr(
        hostile, "run", lambda *_: Report("hostile", {}, rows, hostile._targets(rows))
    )

    printed = bench("hostile", "--quick", "--json", code=code).stdout

    assert [target["holds"] for target in json.loads(printed)["targets"]] == [True, True, not code]
