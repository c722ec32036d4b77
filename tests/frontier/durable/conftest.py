"""One process after another on the same state."""

import sqlite3

import gevent
import pytest

from crawler.data import Link, Response
from crawler.errors import JobError
from crawler.frontier import DONE, Frontier, Next, Politeness, Scope, SqliteJournal

AT_ONCE = Politeness(robots=False, delay=0.0, per_host=100, latency_factor=0.0)


class Life:
    """One process after another on the same file."""

    def __init__(self, path, window=50_000, **options):
        self.path = path / "state.db"
        self.window = window
        self.options = {"politeness": AT_ONCE} | options
        self.scope = Scope(max_depth=None, accepted_domains=["a.test", "b.test", "c.test"])
        self.begin()

    def begin(self):
        self.journal = SqliteJournal(self.path, window=self.window)
        self.frontier = Frontier(self.scope, journal=self.journal, **self.options)
        return self.frontier

    def end(self):
        self.frontier.close()
        self.journal.close()

    def crash(self):
        """End as kill -9 does: what is not committed is gone."""
        self.journal.commits.failure = JobError("killed")
        self.frontier.close()
        self.journal.close()

    def again(self):
        self.end()
        return self.begin()

    def query(self, text, *values):
        with sqlite3.connect(self.path) as connection:
            return connection.execute(text, values).fetchall()


@pytest.fixture
def life(tmp_path):
    life = Life(tmp_path)
    yield life
    if life.frontier is not None and not life.frontier.closed:
        life.end()


def take(frontier):
    with gevent.Timeout(120):
        return frontier.take()


def answer(frontier, taken, status=200, **headers):
    request = taken.request
    return frontier.fetched(taken, Response(request.url, status, headers, b"body", request))


def visit(frontier, *links):
    taken = take(frontier)
    request = taken.request
    assert answer(frontier, taken) is Next.ANALYZE
    for link in links:
        frontier.admit(Link(link, request.depth + 1, request.url))
    frontier.settle(taken, DONE)
    return request
