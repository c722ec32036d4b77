"""The final report of a job, printed again."""

import json
import os
import re
import subprocess
import time

from crawler.job.view import JobView

from ..conftest import CRAWLER, QUICK, crawler, job_of


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def was_admitted(path):
    with JobView(path) as job:
        return job.counts().admitted > 0


def test_report_prints_the_final_report_again(linked, tmp_path):
    done = crawler("crawl", linked.url("/"), *QUICK, cwd=tmp_path)

    again = crawler("report", cwd=tmp_path)
    as_json = crawler("report", job_of(linked), "--json", cwd=tmp_path)

    assert again.stdout == done.stdout
    assert json.loads(as_json.stdout)["urls"]["done"] == 13


def test_report_of_a_job_that_was_killed(held, tmp_path):
    process = subprocess.Popen(
        [*CRAWLER, "crawl", held.url("/0"), *QUICK], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: len(held.requests) > 10)
    wait_for(lambda: was_admitted(tmp_path / job_of(held)))
    process.kill()
    process.wait(timeout=120)

    shown = crawler("report", cwd=tmp_path)

    assert re.search(r"pages +\d+ done, 0 failed, \d+ left", shown.stdout), shown.stderr
    assert "run the same command to continue" in shown.stdout


def test_report_of_a_job_that_is_running_says_so(linked, tmp_path):
    from crawler.job.directory import Job

    crawler("crawl", linked.url("/"), *QUICK, "--job", "mine", cwd=tmp_path)

    with Job(tmp_path / "mine"):
        shown = crawler("report", "mine", cwd=tmp_path)
        as_json = crawler("report", "mine", "--json", cwd=tmp_path)

    assert re.search(r"pages +13 done, 0 failed, 0 left", shown.stdout), shown.stderr
    assert re.search(rf"running +process {os.getpid()} on ", shown.stdout)
    assert "not by itself" not in shown.stdout
    assert json.loads(as_json.stdout)["user"].startswith(f"process {os.getpid()} on ")
