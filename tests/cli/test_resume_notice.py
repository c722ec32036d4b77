"""What a command prints about the job that it continues."""

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
