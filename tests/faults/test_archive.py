"""A web archive has every exchange once, whatever ends the process between two fetches of a page."""

from collections import Counter

import gevent
import pytest
from gevent.event import Event

from crawler import Request, Spider, crawl, stream
from crawler.errors import JobError
from crawler.feed import WarcSite
from crawler.feed.warc.reader import records
from crawler.job.directory import Job
from crawler.testing import Reply, Site

from .conftest import FAST

#: The fetches that a page takes, with their statuses.
CHAINS = {
    "hops": [("/one", 301), ("/two", 302), ("/three", 200)],
    "retries": [("/busy", 503), ("/busy", 503), ("/busy", 200)],
    "a hop and a retry": [("/moved", 301), ("/tired", 503), ("/tired", 200)],
}
TITLE = [{"title": "there"}]


class Titles(Spider):
    def parse(self, response):
        yield {"title": response.title}


class ChainSite(Site):
    """Answers the last fetch of each chain when *open* is set."""

    def __init__(self):
        to = {"/one": "/two", "/two": "/three", "/moved": "/tired"}
        moved = {path: Reply(301 + (path == "/two"), {"location": to[path]}) for path in to}
        super().__init__(moved | dict.fromkeys(("/three", "/busy", "/tired"), self.last))
        self.open = Event()
        self.busy = {"/busy": 2, "/tired": 1}

    def last(self, request):
        path = request.url.removeprefix(self.base)
        if self.busy.get(path):
            self.busy[path] -= 1
            return Reply(503, {"retry-after": "0"}, "busy")
        self.open.wait(120)
        return "<title>there</title>"


@pytest.fixture
def site():
    return ChainSite()


@pytest.fixture
def crawled(tmp_path, site):
    """Crawl from *path* until *number* requests were made, and end in that way; or to the end."""

    def crawled(path, number=None, end=None, **settings):
        spider = Titles(start_urls=[site.url(path)])
        with Job(tmp_path) as job:
            job.open_archive(str(tmp_path / "site.warc.gz"))
            if number is None:
                return crawl(spider, job=job, fetch=site, **FAST)
            result = stream(spider, job=job, fetch=site, **FAST | settings)
            while len(site.requests) < number:
                gevent.sleep(0.001)
            job.journal.commits.flush()
            if end == "killed":  # nothing is written any more
                job.journal.commits.failure = JobError("killed")
            result.stop(0)

    return crawled


def exchanges(folder):
    """Return the path and the status of each response, in their order."""
    found = records((folder / "site.warc.gz").read_bytes())
    return [
        (one.fields["warc-target-uri"].removeprefix("http://site.test"), int(one.block[9:12]))
        for one in found
        if one.fields["warc-type"] == "response"
    ]


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_exchanges_outlive_a_process_that_ends_in_the_fetch_after_them(
    tmp_path, site, crawled, chain, end
):
    start, expected = CHAINS[chain][0][0], CHAINS[chain]
    crawled(start, len(expected), end)
    site.open.set()

    result = crawled(start)

    assert result.items == TITLE
    assert exchanges(tmp_path) == expected
    assert Counter(request.url for request in site.requests) == Counter(
        site.url(path) for path, _ in [*expected, expected[-1]]
    )


@pytest.mark.parametrize("end", ["killed", "stopped"])
@pytest.mark.parametrize("chain", CHAINS)
def test_exchanges_outlive_a_process_that_ends_while_the_request_waits(
    tmp_path, site, crawled, chain, end
):
    site.open.set()
    start = CHAINS[chain][0][0]
    crawled(start, 1, end, **{"delay": 0.3, "retries.wait": 0.3})

    assert crawled(start).items == TITLE
    assert exchanges(tmp_path) == CHAINS[chain]


def test_what_was_archived_over_several_processes_can_be_replayed(tmp_path, site, crawled):
    for number in (1, 2):
        crawled("/one", number, "killed", delay=0.2)
    site.open.set()
    crawled("/one")

    with WarcSite(tmp_path / "site.warc.gz") as archive:
        result = crawl(Titles(start_urls=[site.url("/one")]), fetch=archive, **FAST)

    assert (result.items, result.errors) == (TITLE, [])


class Listing(Spider):
    def start(self):
        for path in self.fetch(self.listing).text.split():
            yield Request(self.listing.replace("/list", path))

    def parse(self, response):
        yield {"title": response.title}


def test_what_a_spider_fetches_before_the_crawl_is_archived(tmp_path):
    site = Site({"/list": "/a", "/a": "<title>there</title>"})
    with Job(tmp_path) as job:
        job.open_archive(str(tmp_path / "site.warc.gz"))
        crawl(Listing(listing=site.url("/list")), job=job, fetch=site, **FAST)

    assert exchanges(tmp_path) == [("/list", 200), ("/a", 200)]
