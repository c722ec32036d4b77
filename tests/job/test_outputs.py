"""What a page has produced is written with its end, whatever runs in between."""

import json
from itertools import count

import gevent

from crawler import crawl, stream
from crawler.feed import JsonLines
from crawler.job.directory import Job
from crawler.job.view import JobView
from crawler.spider import PageSpider
from crawler.testing import Site, generated_site


class YieldingFeed(JsonLines):
    """A feed that lets other greenlets run before and after each record."""

    def _write(self, record):
        gevent.sleep(0)
        super()._write(record)
        gevent.sleep(0)


def test_outputs_have_the_records_of_exactly_the_pages_that_are_committed(tmp_path):
    """A feed may yield: the positions still belong to the commit that records them."""
    site = Site(generated_site(pages=120, size=200))
    path = tmp_path / "pages.jsonl"
    checked = count()
    with gevent.Timeout(120), Job(tmp_path) as job:
        feed = YieldingFeed(path)
        job.outputs.feeds.append(feed)
        job.outputs._outputs["pages.jsonl"] = feed
        spider = PageSpider(start_urls=[site.url()])
        with stream(spider, job=job, fetch=site, depth=None, delay=0) as result:
            for _ in result:
                gevent.sleep(0.001)
                check(tmp_path, path)
                next(checked)
        check(tmp_path, path)

    assert next(checked) == 120
    assert len(path.read_text().splitlines()) == 120


def check(directory, path):
    with JobView(directory) as view:
        view._connection.execute("BEGIN")  # all of it is to be of one commit
        done = {story.url for story in view.urls("done")}
        end = (view.fact("outputs") or {}).get("pages.jsonl", 0)
    records = path.read_bytes()[:end].splitlines()
    assert {json.loads(record)["url"] for record in records} == done
    assert len(records) == len(done)


class ChoosyFeed(JsonLines):
    def _write(self, record):
        if record["title"] == "page 3":
            raise ValueError("not that one")
        super()._write(record)


def test_a_record_that_cannot_be_written_costs_no_other_and_is_counted(tmp_path):
    site = Site({f"/{n}": f"<title>page {n}</title><a href=/{n + 1}>x</a>" for n in range(6)})
    with gevent.Timeout(120), Job(tmp_path) as job:
        feed = ChoosyFeed(tmp_path / "pages.jsonl")
        job.outputs.feeds.append(feed)
        crawl(PageSpider(start_urls=["http://site.test/0"]), job=job, fetch=site, depth=5, delay=0)

    assert (feed.written, feed.unwritten) == (5, 1)
