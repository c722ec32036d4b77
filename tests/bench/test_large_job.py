"""Jobs with many URLs, which the bench has made."""

import sqlite3

import pytest

from crawler.bench import large_job
from crawler.bench.large_job import Size


def test_a_job_is_filled_as_a_crawl_would_have_left_it(tmp_path):
    large_job.fill(str(tmp_path), [1000, 10])

    with sqlite3.connect(tmp_path / "state.db") as state:
        (waiting,) = state.execute("SELECT count(*) FROM urls WHERE status IS NULL").fetchone()
    found = large_job.proceed(str(tmp_path), [1000, 10], pages=50)

    assert waiting == 500
    assert found["page_cpu"] > 0
    with sqlite3.connect(tmp_path / "state.db") as state:
        (done,) = state.execute("SELECT count(*) FROM urls WHERE status = 'done'").fetchone()
        (odd,) = state.execute("SELECT count(*) FROM urls WHERE status != 'done'").fetchone()
    assert done >= 500 + 50
    assert odd == 0


def test_every_job_has_targets_but_the_first():
    def row(us, megabytes, seconds):
        return {"cpu_us": [us], "rss_mb": [megabytes], "continue_s": [seconds]}

    names = [str(size) for size in (Size(20_000, 1), Size(10**7, 1), Size(10**7, 100_000))]
    rows = dict(zip(names, (row(1000, 60, 1), row(1100, 500, 90), row(1300, 300, 50)), strict=True))

    targets = large_job._targets(rows)

    assert [target.holds for target in targets] == [False, False, True, True, True, False]
    assert targets[2].value == pytest.approx(1.1)
    assert names[2] == "10,000,000 URLs, 100,000 hosts"
