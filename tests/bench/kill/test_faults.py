"""How the history of a server is cut."""

import random

import pytest

from crawler.bench.kill.faults import cut_history


@pytest.mark.parametrize("seed", range(20))
def test_of_a_single_file_only_what_came_after_its_rewriting_is_cut(tmp_path, seed):
    file = tmp_path / "appendonly.aof"
    file.write_bytes(b"x" * 5000)

    cut_history(tmp_path, 4000, random.Random(seed))

    assert 4500 <= file.stat().st_size <= 5000


def test_of_several_files_the_last_one_is_cut(tmp_path):
    folder = tmp_path / "appendonlydir"
    folder.mkdir()
    for number in (2, 9, 10):
        (folder / f"appendonly.aof.{number}.incr.aof").write_bytes(b"x" * 1000)
    rng = random.Random(1)

    for _ in range(5):
        cut_history(tmp_path, 10**6, rng)

    sizes = [(folder / f"appendonly.aof.{n}.incr.aof").stat().st_size for n in (2, 9, 10)]
    assert sizes[:2] == [1000, 1000]
    assert sizes[2] < 1000
