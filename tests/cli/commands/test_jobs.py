"""The jobs in a directory are listed."""

import json
import re

import pytest

from crawler import Job, crawl
from crawler.spider import PageSpider

from ..conftest import QUICK, crawler, job_of


def test_jobs_lists_them(linked, tmp_path):
    crawler("crawl", linked.url("/0"), *QUICK, "--max-pages", "3", cwd=tmp_path)

    shown = crawler("jobs", cwd=tmp_path)
    [row] = map(json.loads, crawler("jobs", "--json", cwd=tmp_path).stdout.splitlines())

    assert re.match(r"crawls/127\.0\.0\.1_\d+ +unfinished +3 done", shown.stdout), shown.stderr
    assert shown.stdout.endswith("(page_limit)\n")
    assert (row["job"], row["done"], row["spider"]) == (job_of(linked), 3, "pages")
    assert (row["state"], row["reason"]) == ("unfinished", "page_limit")


def test_jobs_and_report_agree(linked, tmp_path):
    """A job that has not begun is not finished, nor is one whose process was killed."""
    with Job(tmp_path / "crawls/empty"):
        pass
    crawler("crawl", linked.url("/"), *QUICK, "--job", "crawls/whole", cwd=tmp_path)
    job = Job(tmp_path / "crawls/library")
    crawl(PageSpider(start_urls=[linked.url("/20")]), job=job, allow_private=True, robots=False)
    job.close()

    rows = map(json.loads, crawler("jobs", "--json", cwd=tmp_path).stdout.splitlines())
    states = {row["job"].rpartition("/")[2]: row["state"] for row in rows}
    reports = {name: crawler("report", name, cwd=tmp_path).stdout for name in states}

    assert states == {"empty": "empty", "whole": "finished", "library": "finished"}
    assert "ended         before a URL was admitted" in reports["empty"]
    for name in ("whole", "library"):
        assert "ended" not in reports[name]
        assert "pages         " in reports[name]


@pytest.fixture
def three_jobs(linked, tmp_path):
    for name in "abc":
        crawler("crawl", linked.url("/"), *QUICK, "--job", f"crawls/{name}", cwd=tmp_path)
    for left in ("state.db-wal", "state.db-shm"):
        (tmp_path / "crawls/b" / left).unlink(missing_ok=True)
    return tmp_path


@pytest.mark.parametrize("damage", [b"x\n", b"", bytes(5000)])
def test_a_damaged_job_is_reported_and_the_others_are_listed(three_jobs, damage):
    (three_jobs / "crawls/b/state.db").write_bytes(damage)

    shown = crawler("jobs", cwd=three_jobs)
    as_json = crawler("jobs", "--json", cwd=three_jobs)

    assert shown.returncode == as_json.returncode == 1
    assert shown.stderr == as_json.stderr == ""
    lines = shown.stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["crawls/a", "finished"],
        ["crawls/b", "unreadable"],
        ["crawls/c", "finished"],
    ]
    assert "crawls/b/state.db cannot be read: " in lines[1]
    a, b, c = map(json.loads, as_json.stdout.splitlines())
    assert a["done"] == c["done"] == 13
    assert b.keys() == {"job", "error"}
    assert b["job"] == "crawls/b"


def test_a_directory_without_jobs_is_reported(tmp_path):
    (tmp_path / "empty").mkdir()

    nothing = crawler("jobs", cwd=tmp_path)
    empty = crawler("jobs", "empty", cwd=tmp_path)
    nope = crawler("jobs", "nope", cwd=tmp_path)

    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert nothing.stderr == "crawler: no jobs below 'crawls'\n"
    assert (empty.returncode, empty.stderr) == (0, "crawler: no jobs below 'empty'\n")
    assert nope.returncode == 2
    assert nope.stderr.startswith("crawler: no such directory: 'nope' (")
