"""Each measurement runs, with numbers too small to mean anything."""

import json
import subprocess
import sys

import pytest

from crawler.bench import frontier

MODULES = {
    "pool": ["--number", "50"],
    "fetch": ["--requests", "20", "--repeats", "1"],
    "frontier": ["--scale", "0.001", "--repeats", "1"],
}
FIRST_ROWS = {"pool": "gevent Queue", "fetch": "bare libcurl", "frontier": "10 hosts"}


def run(module, *options):
    command = [sys.executable, "-m", f"crawler.bench.{module}", *MODULES[module], *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=50, check=True).stdout


@pytest.mark.parametrize("module", MODULES)
def test_prints_a_table(module):
    head, *rows = run(module).splitlines()

    assert "µs" in head
    assert rows[0].startswith(FIRST_ROWS[module])
    assert len(rows) >= 3


@pytest.mark.parametrize("module", MODULES)
def test_prints_json(module):
    costs = json.loads(run(module, "--json"))

    assert next(iter(costs)) == FIRST_ROWS[module]
    for cost in costs.values():
        numbers = cost.values() if isinstance(cost, dict) else [cost]
        numbers = cost if isinstance(cost, list) else numbers
        assert all(number is None or number >= 0 for number in numbers)


def test_the_table_of_the_frontier_says_which_targets_hold():
    Cost = frontier.Cost
    costs = {
        "10 hosts": Cost(10.0, 20.0),
        "flat": Cost(11.0, 29.9),
        "steep": Cost(12.0, 30.1),
        "slim": Cost(9.0, megabytes=199.0),
        "fat": Cost(9.0, megabytes=201.0),
    }

    _, *rows, targets = frontier.table(costs, scale=1.0).splitlines()

    assert [row.split()[-1] for row in rows] == ["yes", "yes", "NO", "yes", "NO"]
    assert "1.5 ×" in targets
    assert "200 MB" in targets
    assert "1.51" in rows[2]


def test_every_row_of_the_frontier_has_a_name_of_its_own():
    assert len(frontier.rows(1.0)) == len(frontier.rows(0.001)) == 8
