"""The report of kills."""

import sys

import pytest
from click.testing import CliRunner

from crawler.bench.kill import kills as kill
from crawler.bench.measuring.report import Report
from crawler.cli.commands.bench import bench
from crawler.feed import FeedError

KILLED = {
    "anywhere": {
        "kills": [1, 1],
        "trials": [1, 1],
        "lost": [0, 0],
        "doubled": [0, 0],
        "exchanges_lost": [0, 0],
        "exchanges_doubled": [0, 0],
        "refetched": [3, 0, 12, 0],
    },
    "five in a row": {
        "kills": [5],
        "trials": [1],
        "lost": [0],
        "doubled": [0],
        "exchanges_lost": [0],
        "exchanges_doubled": [0],
        "refetched": [0, 70, 0, 10, 0, 0],
    },
}


def killed(lost=0, measure="lost"):
    rows = KILLED | {"anywhere": KILLED["anywhere"] | {measure: [0, lost]}}
    return Report("kill", {"pages": 400}, rows, kill._targets(rows, 0))


def test_refetches_are_shown_per_kill():
    shown = kill.show(killed()).splitlines()

    assert shown[2].split() == ["anywhere", "2", "2", *"0000", "7.5,", "at", "most", "12"]
    assert shown[3].split()[4:] == ["1", "5", *"0000", "16.0,", "at", "most", "70"]
    assert "requests repeated per kill, at most: 70.00 (≤ 72)" in "\n".join(shown)


@pytest.mark.parametrize(("lost", "code"), [(0, 0), (1, 5)])
@pytest.mark.parametrize(
    ("measure", "text"), [("lost", "pages lost"), ("exchanges_lost", "exchanges lost")]
)
def test_what_is_lost_changes_the_exit_code(lost, code, measure, text, kept, monkeypatch):
    monkeypatch.setattr(kill, "run", lambda *_, **__: killed(lost, measure))

    ended = CliRunner().invoke(bench, ["kill", "--history", str(kept)])

    assert (ended.exit_code, f"{text}: {lost}.00" in ended.stdout) == (code, True)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(FeedError, match=r"\[parquet\]"):
        kill.run(1)


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "somewhere" / "results.jsonl"
