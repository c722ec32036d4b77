"""What a job goes on with, beyond the rows: outputs, what callbacks wait for, chains of redirects."""

import json
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import gevent
import pytest

from crawler import Spider, crawl
from crawler.data import Link, Request
from crawler.errors import JobError
from crawler.feed import FeedError
from crawler.feed.warc.reader import records
from crawler.frontier import DONE, Fingerprint, Next, TrapGuard
from crawler.frontier.durable import rows
from crawler.job.directory import Job
from crawler.spider import PageSpider
from crawler.testing import Site, generated_site

EVERYTHING = {"depth": None, "delay": 0, "robots": False}


@pytest.fixture
def site():
    return Site(generated_site(pages=20, size=500))


def archived(path):
    fields = (record.fields for record in records(path.read_bytes()))
    return sorted(f["warc-target-uri"] for f in fields if f["warc-type"] == "response")


def urls_in(path):
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


class Waiting(Spider):
    """Asks for a part of each page in the middle of its callback."""

    def parse(self, response):
        part = self.fetch(f"{response.url}?part")
        yield {"url": response.url, "part": part.status}


def test_what_a_callback_waits_for_is_archived_with_its_page(tmp_path):
    site = Site({"/": "<p>page</p>", "/?part": "<p>part</p>"})
    with Job(tmp_path) as job:
        job.open_archive(str(tmp_path / "pages.warc"))
        crawl(Waiting(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)

    assert archived(tmp_path / "pages.warc") == [site.url(), site.url("/?part")]


def test_a_job_can_be_moved(tmp_path, site):
    """An output in the directory is cut back to where it was, wherever the directory is."""
    with Job(tmp_path / "here") as job:
        job.open_feed(str(tmp_path / "here/pages.jsonl"))
        crawl(PageSpider(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)
    (tmp_path / "here").rename(tmp_path / "there")
    path = tmp_path / "there/pages.jsonl"
    with path.open("a") as file:
        file.write('{"url": "of a page that is not settled"}\n')

    with Job(tmp_path / "there") as job:
        job.open_feed(str(path))
        result = crawl(PageSpider(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)

    assert result.exit_code == 0
    assert len(site.requests) == 20
    assert sorted(urls_in(path)) == sorted(site.pages)


def test_an_output_that_is_too_short_is_named(tmp_path, site):
    path = tmp_path / "pages.jsonl"
    with Job(tmp_path) as job:
        job.open_feed(str(path))
        crawl(PageSpider(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)
    path.write_text("")

    with Job(tmp_path) as job, pytest.raises(FeedError, match=r"pages\.jsonl ends after 0 bytes"):
        job.open_feed(str(path))


def test_an_output_that_cannot_be_finished_is_an_error(tmp_path, site):
    with pytest.raises(JobError, match=r"cannot finish .*pages\.parquet"), Job(tmp_path) as job:
        job.open_feed(str(tmp_path / "pages.parquet"))
        crawl(PageSpider(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)
        (tmp_path / "pages.parquet").mkdir()


def test_a_chain_of_redirects_that_a_limit_cut_off_can_be_gone_along_again(session):
    session.web.moved = {session.web.start: "http://a.test/new"}
    session.web.links = {session.web.start: []}
    with session:
        request = session.frontier.take()
        assert session.web.answer(session.frontier, request) is Next.AGAIN
        session.frontier.cut_off("page_limit")

    with session:
        session.finish()
        counts = session.frontier.view.counts()

    assert (counts.done, counts.refused) == (1, {})


def test_no_commit_follows_one_that_failed(session):
    """Whoever waited for it may have been killed, and so never heard of it."""
    with session:
        session.journal.commits.flush()
        request = session.frontier.take()
        session.web.answer(session.frontier, request)
        [_] = session.journal.store.rows("PRAGMA max_page_count = 1")
        for n in range(500):
            session.frontier.admit(Link(f"http://a.test/{n}", 1, "http://a.test/"))
        waiting = gevent.spawn(session.journal.commits.flush)
        gevent.sleep(0)
        assert not waiting.ready()
        waiting.kill()
        # This would fit.
        session.frontier.settle(request, DONE)

        with gevent.Timeout(120), pytest.raises(JobError, match="is full"):
            session.journal.commits.flush()

    assert session.done() == set()


def test_a_failing_output_ends_the_crawl_and_nothing_is_settled_without_it(tmp_path, site):
    path = tmp_path / "pages.jsonl"
    with Job(tmp_path) as job:
        feed = job.open_feed(str(path))
        written = []

        def fail(record):
            if len(written) == 7:
                raise FeedError("no more")
            written.append(record["url"])

        job.outputs.feeds.append(SimpleNamespace(write=fail))
        result = crawl(PageSpider(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)

    assert result.exit_code == 6
    assert str(result.failure).startswith(f"cannot write to {tmp_path}: no more")
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        rows = connection.execute("SELECT url FROM urls WHERE status = 'done'").fetchall()
    assert {url for (url,) in rows} <= set(written)
    assert feed.closed

    with Job(tmp_path) as job:
        job.open_feed(str(path))
        result = crawl(PageSpider(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)
    assert result.exit_code == 0
    assert sorted(urls_in(path)) == sorted(site.pages)


def test_a_request_is_kept_with_all_that_it_says(session):
    request = Request("http://a.test/x", "POST", body=b"\0\xff", meta={"a": [1, None]}, priority=-3)
    with session:
        session.frontier.admit(request)

    with session:
        found = [session.frontier.take().request for _ in range(2)]

    assert request in found


def test_a_callback_that_the_spider_does_not_have_fails_its_page_only(tmp_path, site):
    with Job(tmp_path) as job:
        fingerprint = job.journal.restore(TrapGuard(), Fingerprint()).fingerprint
        request = Request(site.url("/page/7"), callback="system")
        row = rows.inserted(request, "site.test", rows.key_of(request, fingerprint))
        job.journal.commits.batch.inserts.append(row)
        job.journal.commits.flush()

    with Job(tmp_path) as job:
        result = crawl(PageSpider(start_urls=[site.url()]), job=job, fetch=site, **EVERYTHING)

    assert result.exit_code == 1
    assert result.summary.urls.done == 19
    assert sum(result.summary.urls.failed.values()) == 1
    assert "system" in str(result.errors[0])
