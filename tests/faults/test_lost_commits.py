"""A job whose commits are gone says so: it never starts over in silence and doubles its records."""

import json
import shutil
import struct

import pytest

from crawler import Job, crawl
from crawler.errors import JobError
from crawler.spider import PageSpider
from crawler.testing import Site

HOME = "http://site.test/"
PAGES = 12
#: Sizes in SQLite's write-ahead log.
LOG_HEADER, FRAME_HEADER, PAGE = 32, 24, 4096


class Interrupted(PageSpider):
    """Copies the job directory as a kill in the middle of the crawl would leave it."""

    def __init__(self, job, copy, **options):
        super().__init__(**options)
        self.job, self.copy = job, copy

    def parse(self, response):
        if response.url == f"{HOME}{PAGES // 2}":
            self.job.journal.commits.flush()
            shutil.copytree(self.job.path, self.copy)
        yield from super().parse(response)


@pytest.fixture
def site():
    return Site({f"{HOME}{n}": f'<a href="/{(n + 1) % PAGES}">x</a>' for n in range(PAGES)})


def run(path, site, make=lambda job, **options: PageSpider(**options)):
    with Job(path) as job:
        job.open_feed(str(path / "pages.jsonl"))
        spider = make(job, start_urls=[f"{HOME}0"])
        return crawl(spider, job=job, fetch=site, depth=None, delay=0, robots=False)


@pytest.fixture
def killed(tmp_path, site):
    """A job that was killed when half of its pages were done, and is in the log only."""
    path = tmp_path / "killed"
    run(tmp_path / "whole", site, lambda job, **options: Interrupted(job, path, **options))
    assert 3 < len(recorded(path)) < PAGES
    return path


def recorded(path):
    return [json.loads(line)["url"] for line in (path / "pages.jsonl").read_text().splitlines()]


def keep_commits(log, number):
    """Cut *log* behind its first commits, as if the disk had lost the rest."""
    content, end = log.read_bytes(), LOG_HEADER
    while number:
        (pages_after_commit,) = struct.unpack_from(">4xI", content, end)
        end += FRAME_HEADER + PAGE
        number -= pages_after_commit > 0
    log.write_bytes(content[:end])


def test_a_killed_job_goes_on_where_it_was(killed, site):
    run(killed, site)

    assert sorted(recorded(killed)) == sorted(site.pages)


def test_a_state_of_which_only_the_schema_is_left_is_no_new_job(killed, site):
    keep_commits(killed / "state.db-wal", 1)
    before = recorded(killed)

    with pytest.raises(JobError, match=r"is damaged \(\d+ commits are missing\): .*--fresh"):
        run(killed, site)

    assert recorded(killed) == before


@pytest.mark.parametrize("left", [None, b"", b"\0" * 16])
def test_neither_is_one_whose_number_of_commits_is_lost_as_well(killed, site, left):
    keep_commits(killed / "state.db-wal", 1)
    (killed / "state.marker").unlink()
    if left is not None:
        (killed / "state.marker").write_bytes(left)

    with pytest.raises(JobError, match=r"is damaged \(all commits are missing\): .*--fresh"):
        run(killed, site)


def test_a_job_that_has_lost_its_last_commits_writes_no_record_twice(killed, site):
    keep_commits(killed / "state.db-wal", 2)

    result = run(killed, site)

    assert sorted(recorded(killed)) == sorted(site.pages)
    assert result.summary.urls.done == PAGES


def test_a_job_that_was_killed_before_its_first_commit_begins(tmp_path, site):
    path = tmp_path / "job"
    Job(path).close()

    run(path, site)

    assert sorted(recorded(path)) == sorted(site.pages)


def test_a_job_whose_state_is_deleted_does_not_start_over_by_itself(killed, site):
    for state in killed.glob("state.*"):
        state.unlink()
    before = recorded(killed)

    with pytest.raises(JobError, match=r"the state of that job is gone: .*--fresh"):
        run(killed, site)
    assert recorded(killed) == before

    Job.clear(killed)
    run(killed, site)
    assert sorted(recorded(killed)) == sorted([*before, *site.pages])
