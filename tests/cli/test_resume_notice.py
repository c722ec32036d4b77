"""What a command prints about the job that it continues."""

import os

import pytest

from crawler.cli.resume_notice import print_large
from crawler.frontier.durable.crash_marker import CrashMarker
from crawler.job.directory import Job

from .conftest import QUICK, crawler


def test_a_job_that_has_lost_all_its_pages_says_so(linked, tmp_path):
    path = tmp_path / "job"
    with Job(path) as job:
        job.open_feed(str(path / "pages.jsonl"))
        job.begin({"spider": "pages", "start_urls": [], "settings": {}, "source": ""})
    marker = CrashMarker(path / "state.marker")
    marker.commits += 8
    marker.close()

    done = crawler("crawl", linked.url("/"), *QUICK, "--job", "job", cwd=tmp_path)

    assert done.returncode == 0
    assert "job: 8 commits are missing at the end, to be redone" in done.stderr


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, ""),
        (40_000_000, ""),
        (1_820_000_000, "reading 1.82 GB of state; a large job takes some time to continue\n"),
    ],
)
def test_a_job_with_a_large_state_says_that_it_is_read(tmp_path, capsys, number, text):
    if number is not None:
        (tmp_path / "state.db").touch()
        os.truncate(tmp_path / "state.db", number)

    print_large(tmp_path)

    assert capsys.readouterr().err.removeprefix(f"{tmp_path}: ") == text
