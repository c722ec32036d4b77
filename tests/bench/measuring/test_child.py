"""Functions measured in child processes."""

import tempfile
from pathlib import Path

import pytest

from crawler.bench.measuring.child import BenchError, Child


def test_a_child_that_fails_is_an_error_that_says_why():
    child = Child("crawler.bench.parts.pool:measure", {"number": "many", "repeats": 1})

    with pytest.raises(BenchError, match=r"pool:measure failed: .*TypeError"):
        child.run(120)


def test_a_child_that_does_not_end_is_an_error():
    child = Child("crawler.bench.parts.pool:measure", {"number": 10**9, "repeats": 1})

    with pytest.raises(BenchError, match=r"did not end within 1 s"):
        child.run(1)


def test_a_child_returns_its_cost():
    cost = Child("crawler.bench.parts.pool:measure", {"number": 10, "repeats": 1}).run(120)

    assert cost["cpu"] > 0
    assert cost["seconds"] > 0
    assert cost["rss"] > 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel tells nothing")
def test_the_memory_of_a_child_is_not_that_of_its_parent():
    much = bytearray(b"x") * 300_000_000

    cost = Child("crawler.bench.parts.pool:measure", {"number": 10, "repeats": 1}).run(120)

    assert cost["rss"] < len(much) / 1e6 / 2


def test_a_child_that_is_killed_leaves_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with pytest.raises(BenchError, match="did not end within 2 s"):
        Child("cheating:dawdle", patched=False).run(2)

    assert list(tmp_path.iterdir()) == []
