"""A job that an earlier version has written is migrated when it is opened, and continued."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import gevent
import pytest

from crawler import crawl
from crawler.frontier.durable.schema import FORMAT
from crawler.job.directory import Job
from crawler.job.view import JobView
from crawler.spider import PageSpider
from crawler.testing import Site

#: By format, a job directory of that format that was killed, and one that was finished.
FORMATS = Path(__file__).parent / "formats"
HOME = "http://site.test/"


def links(n):
    return [m for m in (2 * n + 1, 2 * n + 2, 0) if m < 12]


@pytest.fixture
def site():
    """The twelve pages that those jobs have crawled."""
    return Site(
        {
            f"{HOME}{n}": f"<title>{n}</title>" + "".join(f'<a href="/{m}">x</a>' for m in links(n))
            for n in range(12)
        }
    )


def recorded(path):
    return [json.loads(line)["url"] for line in (path / "pages.jsonl").read_text().splitlines()]


def test_there_is_a_job_of_each_earlier_format():
    assert sorted(path.name for path in FORMATS.iterdir()) == [str(n) for n in range(1, FORMAT)]


@pytest.mark.parametrize("state", ["killed", "finished"])
@pytest.mark.parametrize("format_", [path.name for path in FORMATS.iterdir()])
def test_a_job_of_an_earlier_format_is_read_migrated_and_continued(tmp_path, site, format_, state):
    path = tmp_path / "job"
    shutil.copytree(FORMATS / format_ / state, path)
    with JobView(path) as view:
        done = view.counts().done
        assert view.counts().pending == {"killed": 5, "finished": 0}[state]
        assert [story.status for story in view.why(f"HTTP://site.test:80/{state}/../0")] == ["done"]
    with gevent.Timeout(120), Job(path) as job:
        job.open_feed(str(path / "pages.jsonl"))
        result = crawl(
            PageSpider(start_urls=[HOME + "0"]), job=job, fetch=site, depth=None, delay=0
        )

    assert result.summary.urls.done == 12 > done or state == "finished"
    assert len(site.requests) == 12 - done + bool(done < 12)  # and robots.txt
    assert sorted(recorded(path)) == sorted(site.pages)
    with closing(sqlite3.connect(path / "state.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        found = connection.execute("SELECT value FROM facts WHERE name = 'fingerprint'").fetchone()
        assert json.loads(*found)["kind"] == "mmh3"
    if format_ == "1":
        assert (path / "state.marker").exists()
        assert not (path / "state.pulse").exists()


def test_the_page_that_killed_a_process_of_format_1_is_suspected(tmp_path, site):
    path = tmp_path / "job"
    shutil.copytree(FORMATS / "1" / "killed", path)

    with gevent.Timeout(120), Job(path) as job:
        crawl(PageSpider(start_urls=[HOME + "0"]), job=job, fetch=site, depth=None, delay=0)
        suspects = job.recovered.suspects

    with closing(sqlite3.connect(path / "state.db")) as connection:
        rows = connection.execute("SELECT id FROM urls WHERE url = ?", (HOME + "5",))
        assert suspects == {f"{number:x}" for (number,) in rows}
