"""Queues that are too long for memory wait in the store, and nothing of them is lost."""

import sqlite3
from random import Random

import gevent

from crawler.data import Link, Request
from crawler.frontier import SqliteJournal

from .conftest import Life, visit


def test_a_long_queue_stays_on_disk(tmp_path):
    life = Life(tmp_path, window=100)
    for n in range(2000):
        life.frontier.admit(Link(f"http://a.test/{n}", 1, None))

    assert life.frontier._parts.hosts.queued <= 100
    assert len(life.frontier.view) == 2000

    urls = [visit(life.frontier).url for _ in range(1000)]
    frontier = life.again()
    assert frontier._parts.hosts.queued <= 100
    urls += [visit(frontier).url for _ in range(1000)]

    assert urls == [f"http://a.test/{n}" for n in range(2000)]
    assert frontier.view.idle
    life.end()


def test_of_many_hosts_each_keeps_one_request_in_memory(tmp_path):
    hosts, window = 300, 100
    life = Life(tmp_path, window=window)
    for n in range(hosts * 10):
        life.frontier.admit(Link(f"http://h{n % hosts}.a.test/{n}", 1, None))
    assert life.frontier._parts.hosts.queued <= window + hosts

    frontier = life.again()
    urls = [visit(frontier).url for _ in range(hosts)]
    while (reading := life.journal.overflow.reading) is not None:
        reading.join(timeout=120)
    assert frontier._parts.hosts.queued <= window + hosts
    urls += [visit(frontier).url for _ in range(hosts * 9)]

    assert sorted(urls) == sorted(f"http://h{n % hosts}.a.test/{n}" for n in range(hosts * 10))
    assert frontier.view.idle
    life.end()


def test_priority_and_depth_hold_across_the_window(tmp_path):
    life = Life(tmp_path, window=40)
    order = Random(5)
    found = [(order.randrange(3), order.randrange(4), n) for n in range(500)]
    for priority, depth, n in found:
        life.frontier.admit(Request(f"http://a.test/{n}", priority=priority, depth=depth))

    first = [visit(life.frontier) for _ in range(250)]
    frontier = life.again()
    requests = first + [visit(frontier) for _ in range(250)]

    ranks = [(-request.priority, request.depth) for request in requests]
    assert ranks == sorted(ranks)
    assert len({request.url for request in requests}) == 500
    life.end()


def test_cutting_off_settles_what_is_on_disk_too(tmp_path):
    life = Life(tmp_path, window=50)
    for n in range(1000):
        life.frontier.admit(Link(f"http://a.test/{n}", 1, None))

    life.frontier.cut_off("page_limit")

    assert life.frontier.join(timeout=120)
    assert life.frontier.view.counts().refused == {"page_limit": 1000}
    life.end()


def test_nothing_is_lost_that_arrives_while_others_of_its_host_are_read(tmp_path):
    """A commit holds the reading up; some of what is found meanwhile is read with the rest."""
    life = Life(tmp_path, window=16)
    frontier, commits, chance = life.frontier, life.journal.commits, Random(3)
    overflow = life.journal.overflow
    for n in range(400):
        frontier.admit(Link(f"http://a.test/{n}", chance.randrange(40), None))
    with gevent.Timeout(120):
        for round_ in range(20):
            with commits._turn:
                while overflow.reading is None:
                    visit(frontier)
                gevent.sleep(0)
                for n in range(10):
                    url = f"http://a.test/{round_}/{n}"
                    frontier.admit(Link(url, chance.randrange(40), None))
            overflow.reading.join()
            assert len(frontier.view) == frontier.view.counts().pending
        while not frontier.view.idle:
            visit(frontier)

    assert frontier.view.counts().done == 600
    life.end()


def test_an_index_that_cannot_be_built_is_a_failure_of_the_store(tmp_path):
    journal = SqliteJournal(tmp_path / "state.db")
    with sqlite3.connect(journal.store.path) as other:
        other.execute("DROP TABLE urls")

    journal.overflow._build_index()

    assert "urls" in str(journal.commits.failure)
    journal.close()
