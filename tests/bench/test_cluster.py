"""What a cluster costs, as ratios to one process."""

import pytest
from click.testing import CliRunner

from crawler.bench import cluster
from crawler.bench.measuring.report import Report
from crawler.cli.commands.bench.cluster import cluster as command

COST = {
    "cpu_us": [330.0, 345.0],
    "pages_per_second": [2000.0, 2100.0],
    "collector_us": [40.0, 50.0],
    "server_us": [9.0, 11.0],
    "commands": [0.05, 0.05],
    "bytes": [40.0, 40.0],
    "finish_s": [0.5, 4.0],
}
ROWS = {
    cluster.ONE: {"cpu_us": [300.0, 300.0], "pages_per_second": [2500.0, 2500.0]},
    "1 scheduler": COST,
    cluster.IDLE: {"idle": [0.0005], "takeover_s": [13.0]},
}


def test_each_target_is_compared_with_what_was_measured():
    held = {target.text: target.holds for target in cluster._targets(ROWS, ["1 scheduler"])}

    assert [text for text, holds in held.items() if not holds] == [
        "seconds from the last commit to the end, 1 scheduler"
    ]
    assert len(held) == 7


def test_the_table_has_a_row_for_each_number_of_schedulers():
    shown = cluster.show(Report("cluster", {"pages": 10}, ROWS))

    assert "1.12 [1.10–1.15]" in shown
    assert cluster.IDLE not in shown


@pytest.mark.parametrize("given", ["", "0", "1,x"])
def test_numbers_of_schedulers_are_checked(given):
    done = CliRunner().invoke(command, ["--schedulers", given])

    assert done.exit_code == 2
    assert repr(given) in done.output


@pytest.mark.long
def test_a_small_site_is_crawled_by_one_process_and_by_clusters():
    report = cluster.run([1, 2], pages=60, hosts=6, repeats=1)

    assert not report.failures
    assert {*report.rows} == {cluster.ONE, "1 scheduler", "2 schedulers", cluster.IDLE}
    assert min(report.rows["2 schedulers"]["commands"]) > 0
