"""The benchmark of a portal."""

import json

import pytest

from crawler.bench import portal
from crawler.bench.measuring.report import Report


def rows(seconds=0.02, live=103.0):
    return {
        "all tasks": {"seconds": [0.01, seconds, 0.5]},
        "search for a word": {"seconds": [0.03]},
        "200 open pages": {"share": [0.05]},
        "a crawl": {"cpu_us": [100.0]},
        "with --live and an open page": {"cpu_us": [live]},
    }


@pytest.mark.parametrize(
    ("changed", "code"), [({}, 0), ({"seconds": 0.2}, 5), ({"live": 104.0}, 5)], ids=str
)
def test_a_missed_target_is_an_exit_code(bench, monkeypatch, changed, code):
    found = rows(**changed)
    report = Report("portal", {}, found, portal._targets(found))
    monkeypatch.setattr(portal, "run", lambda *_: report)

    printed = json.loads(bench("portal", "--quick", "--json", code=code).stdout)

    assert all(target["holds"] for target in printed["targets"]) == (code == 0)
    assert "all tasks" in portal.show(report)


@pytest.mark.long
def test_a_small_portal_is_measured(monkeypatch):
    monkeypatch.setattr(portal, "_WATCHED", 1.0)

    report = portal.run(50, 100, 100, 1)

    assert all(
        value > 0 for row in report.rows.values() for found in row.values() for value in found
    )
