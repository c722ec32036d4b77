"""A job directory: one process at a time, every record once, and the story of every URL."""

import csv
import gzip
import json
import sqlite3

import gevent
import pytest
from gevent.event import Event

from crawler import Request, Spider, crawl, stream
from crawler.errors import JobError, Unwritable
from crawler.job.directory import Job
from crawler.spider import PageSpider

from .conftest import QUICK, crawl_in


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_finished_job_fetches_nothing_again(tmp_path, site):
    first = crawl_in(tmp_path, site)
    fetched = len(site.requests)

    second = crawl_in(tmp_path, site)

    assert first.exit_code == second.exit_code == 0
    assert len(site.requests) == fetched
    assert second.summary.urls.done == first.summary.urls.done == 5
    assert second.summary.bytes == first.summary.bytes
    assert len(records(tmp_path / "pages.jsonl")) == 5


def test_a_stopped_job_goes_on_with_what_is_left(tmp_path, site):
    held = Event()

    class Slow(PageSpider):
        def parse(self, response):
            if response.url != site.url("/"):
                held.set()
                Event().wait()
            yield from super().parse(response)

    with gevent.Timeout(120), Job(tmp_path) as job:
        job.open_feed(str(tmp_path / "pages.jsonl"))
        result = stream(Slow(start_urls=[site.url("/")]), job=job, **QUICK)
        held.wait()
        result.stop(timeout=0)
    assert result.summary.urls.pending

    crawl_in(tmp_path, site)

    urls = [record["url"] for record in records(tmp_path / "pages.jsonl")]
    assert sorted(urls) == sorted(set(urls))
    assert {url.rpartition("/")[2] for url in urls} == {"", "a", "b", "c", "gone"}


def test_a_record_waits_for_its_page_to_be_settled(tmp_path, site):
    """What a page has yielded before the process ended would come again with the page."""
    path = tmp_path / "items.jsonl"

    class Watching(Spider):
        start_urls = (site.url("/"),)

        def parse(self, response):
            yield {"n": 1}
            gevent.sleep(0.2)
            self.before = path.read_bytes()
            yield {"n": 2}

    spider = Watching()
    with gevent.Timeout(120), Job(tmp_path / "job") as job:
        job.open_feed(str(path))
        crawl(spider, job=job, **QUICK)

    assert spider.before == b""
    assert records(path) == [{"n": 1}, {"n": 2}]


FEEDS = ["items.jsonl", "items.jsonl.gz", "items.csv", "items.sqlite", "items.parquet"]


@pytest.mark.parametrize("name", FEEDS)
def test_an_output_is_cut_back_to_what_is_settled(tmp_path, site, name):
    path = tmp_path / name
    spider = PageSpider(start_urls=[site.url("/")])
    with gevent.Timeout(120), Job(tmp_path / "job") as job:
        feed = job.open_feed(str(path))
        crawl(spider, job=job, **QUICK)
        feed({"url": "http://half.test/"})  # as if its page had not been committed
    with Job(tmp_path / "job") as job:
        job.open_feed(str(path))

    assert len(read(path)) == 5
    assert "http://half.test/" not in read(path)


def read(path):
    if path.suffix == ".jsonl":
        return [record["url"] for record in records(path)]
    if path.suffix == ".gz":
        lines = gzip.decompress(path.read_bytes()).splitlines()
        return [json.loads(line)["url"] for line in lines]
    if path.suffix == ".csv":
        return [row["url"] for row in csv.DictReader(path.read_text().splitlines())]
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as connection:
            return [url for (url,) in connection.execute("SELECT url FROM items")]
    from pyarrow import parquet

    return parquet.read_table(path).column("url").to_pylist()


def test_what_stood_in_a_file_before_the_job_stays(tmp_path, site):
    path = tmp_path / "pages.jsonl"
    path.write_text('{"old": 1}\n')

    crawl_in(tmp_path, site)
    crawl_in(tmp_path, site)

    assert records(path)[0] == {"old": 1}
    assert len(records(path)) == 6


def test_an_output_that_was_removed_is_missed(tmp_path, site):
    crawl_in(tmp_path, site)
    (tmp_path / "pages.jsonl").unlink()

    with pytest.raises(Exception, match=r"pages\.jsonl ends after 0 bytes, but \d+ were recorded"):
        crawl_in(tmp_path, site)


def test_every_exchange_is_in_the_archive_once(tmp_path, site):
    path = tmp_path / "site.warc"
    for _ in range(2):
        with gevent.Timeout(120), Job(tmp_path / "job") as job:
            job.open_archive(str(path))
            crawl(PageSpider(start_urls=[site.url("/")]), job=job, **(QUICK | {"robots": True}))

    targets = [
        line.split()[1]
        for line in path.read_bytes().splitlines()
        if line.startswith(b"WARC-Target-URI")
    ]
    assert sorted(targets) == sorted(
        2 * [site.url(p).encode() for p in ("/", "/a", "/b", "/c", "/gone", "/robots.txt")]
    )


def test_one_process_at_a_time(tmp_path):
    with Job(tmp_path), pytest.raises(JobError, match=r"is in use by process \d+ on"):
        Job(tmp_path)
    Job(tmp_path).close()


def test_meta_that_cannot_be_written_is_an_error_of_the_page(tmp_path, site):
    class Odd(Spider):
        start_urls = (site.url("/"),)

        def parse(self, response):
            yield Request(site.url("/a"), meta={"odd": object()})

    with gevent.Timeout(120):
        result = crawl(Odd(), job=tmp_path, **QUICK)

    assert result.summary.urls.failed == {"unwritable": 1}
    assert isinstance(result.errors[0].__cause__, Unwritable)
    assert "meta['odd']" in str(result.errors[0])


def test_callbacks_are_found_by_name_after_a_restart(tmp_path, site):
    class Two(Spider):
        start_urls = (site.url("/"),)

        def parse(self, response):
            yield Request(site.url("/a"), callback=self.parse_a)

        def parse_a(self, response):
            yield {"from": "parse_a"}

    with gevent.Timeout(120), Job(tmp_path) as job:
        crawl(Two(), job=job, max_pages=1, **QUICK)
    result = crawl(Two(), job=tmp_path, **QUICK)

    assert result.items == [{"from": "parse_a"}]


def test_a_page_limit_counts_over_all_processes(tmp_path, site):
    crawl_in(tmp_path, site, max_pages=2)
    assert crawl_in(tmp_path, site, max_pages=2).summary.urls.done == 2

    assert crawl_in(tmp_path, site, max_pages=3).summary.urls.done == 3
