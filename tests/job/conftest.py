"""Jobs on sites whose links are known, in directories that are quick to write to."""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from random import Random

import gevent
import pytest

from crawler import crawl
from crawler.data import Link, Request, Response
from crawler.errors import JobError
from crawler.frontier import (
    DONE,
    Frontier,
    Next,
    Politeness,
    Scope,
    SqliteJournal,
)
from crawler.job.directory import Job
from crawler.spider import PageSpider
from crawler.testing import LoopbackSite, Reply

AT_ONCE = Politeness(robots=False, delay=0.0, per_host=100, latency_factor=0.0)
SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture
def quick_path(tmp_path):
    """A directory in memory, where the system has one."""
    if not SHARED_MEMORY.is_dir():
        yield tmp_path
        return
    path = Path(tempfile.mkdtemp(prefix="crawler-", dir=SHARED_MEMORY))
    yield path
    shutil.rmtree(path)


class Web:
    """So many pages on three hosts; each links to others, some send on to the next one."""

    def __init__(self, size, seed=1):
        chance = Random(seed)
        self.address = [f"http://{chance.choice('abc')}.test/page/{n}" for n in range(size)]
        self.links = {
            url: [self.address[min(size - 1, n * 3 + k)] for k in (1, 2, 3)]
            + ["http://elsewhere.test/", self.address[chance.randrange(size)]]
            for n, url in enumerate(self.address)
        }
        self.moved = {url: f"{url}/new" for url in self.address[5::17]}

    @property
    def start(self):
        return self.address[0]

    def answer(self, frontier, taken):
        request = taken.request
        to = self.moved.get(request.url)
        status, headers = (301, {"location": to}) if to else (200, {})
        return frontier.fetched(taken, Response(request.url, status, headers, b"", request))

    def visit(self, frontier):
        """Fetch what is due, and settle it unless it has to be fetched again."""
        taken = frontier.take()
        request = taken.request
        if self.answer(frontier, taken) is Next.ANALYZE:
            first = request.redirects[0] if request.redirects else request.url
            for link in self.links[first]:
                frontier.admit(Link(link, request.depth + 1, request.url))
            frontier.settle(taken, DONE)


class Session:
    """One process after another on the same state, without the processes."""

    def __init__(self, path, web, window=50_000, **options):
        self.path = path / "state.db"
        self.web = web
        self.window = window
        self.options = {"politeness": AT_ONCE} | options

    def __enter__(self):
        self.journal = SqliteJournal(self.path, window=self.window)
        scope = Scope(max_depth=None, accepted_domains=["a.test", "b.test", "c.test"])
        try:
            self.frontier = Frontier(scope, journal=self.journal, **self.options)
        except BaseException:
            self.journal.close()
            raise
        self.frontier.admit(Request(self.web.start))
        return self

    def __exit__(self, *_):
        self.frontier.close()
        self.journal.close()

    def crash(self):
        """Let nothing be written any more, as if the process had ended."""
        self.journal.commits.failure = JobError("killed")

    def finish(self):
        with gevent.Timeout(120):
            while not self.frontier.view.idle:
                self.web.visit(self.frontier)

    @property
    def recovered(self):
        return self.journal.recovered

    def done(self):
        with closing(sqlite3.connect(self.path)) as connection:
            connection.text_factory = lambda text: text.decode(errors="replace")
            rows = connection.execute("SELECT url FROM urls WHERE status = 'done'")
            return {url for (url,) in rows}


@pytest.fixture
def web():
    return Web(120)


@pytest.fixture
def session(quick_path, web):
    return Session(quick_path, web)


QUICK = {"delay": 0, "per_host": 8, "allow_private": True, "depth": None, "robots": False}


def page(*links):
    body = "<title>t</title>" + "".join(f'<a href="{link}">x</a>' for link in links)
    return Reply(body=body.encode(), headers={"content-type": "text/html"})


@pytest.fixture
def site():
    pages = {"/": page("/a", "/b", "/gone", "http://elsewhere.test/")}
    pages |= {"/a": page("/b", "/c"), "/b": page("/"), "/c": page()}
    with LoopbackSite(pages) as site:
        yield site


def crawl_in(path, site, spider=None, **options):
    with gevent.Timeout(120), Job(path) as job:
        job.open_feed(str(path / "pages.jsonl"))
        return crawl(spider or PageSpider(start_urls=[site.url("/")]), job=job, **QUICK, **options)
