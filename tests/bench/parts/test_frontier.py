"""The benchmark of the frontier."""

import pytest

from crawler.bench.measuring.report import Report
from crawler.bench.parts import frontier


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


@pytest.mark.parametrize("row", frontier.rows(frontier.LEAST_SCALE))
def test_every_row_of_the_frontier_has_its_costs(row):
    costs = frontier.measure(row, frontier.LEAST_SCALE)

    assert costs.keys() in ({"admit", "cycle"}, {"admit", "megabytes"})
    assert costs["admit"] > 0
    assert costs.get("cycle", 1) > 0
