"""Rows that are counted in groups are counted as they are one by one, whatever they hold."""

import sqlite3
from contextlib import closing

import pytest

from crawler.frontier.admission.fingerprint import Fingerprint
from crawler.frontier.admission.traps import TrapGuard
from crawler.frontier.durable.batch import Batch
from crawler.frontier.durable.plain_rows import plain_rows
from crawler.frontier.durable.rows import seal
from crawler.frontier.durable.store import Store

ALL = "true"
ID = "0a1b2c3d4e5f"


def filled(path, urls):
    """Make a store with *urls*, each with its depth and the page it was found on; return its path."""
    fingerprint, batch = Fingerprint(), Batch()
    for number, (url, depth, found_on) in enumerate(urls, 1):
        known = (number * 900, fingerprint.of(url), url, "a.test", depth, 0, found_on, None)
        batch.inserts.append((*known, 0.0, seal(*known)))
    with closing(Store(path / "state.db")) as store:
        store.commit(batch, {})
    return path / "state.db"


def counted(path):
    """Return the pages of each host, the kinds and the chains of the URLs in a store."""
    guard = TrapGuard(100, max_chain=200)
    with closing(Store(path)) as store:
        groups = list(plain_rows(store, ALL))
        guard.count_all(group.urls for group in groups)
    return sum(group.rows for group in groups), *_state(guard)


def one_by_one(urls):
    guard = TrapGuard(100, max_chain=200)
    for url in urls:
        guard.count(*url)
    return len(urls), *_state(guard)


def _state(guard):
    chains = guard._chains
    numbers = (guard._queries, guard._dates, chains._first_depths, chains._variants)
    return guard._pages, *(each._young for each in numbers)


@pytest.mark.parametrize(
    "urls",
    [
        [("http://a.test/1", 0, None)],
        [(f"http://a.test/{n}?q={n}", n % 3, f"http://a.test/{n // 4}") for n in range(20)],
        [(f"http://{'abc'[n % 3]}.test/2026/05/{n}", 1, "http://a.test/") for n in range(20)],
        [(f"http://a.test/{n}/{ID}", 1, f"http://a.test/{n}/{ID[::-1]}") for n in range(9)],
        [(f"http://a.test/{n}", n, "http://a.test/") for n in range(9)],
        [("http://a.test/a\x1fhttp://b.test/", 0, None), ("http://a.test/", 0, "http://\x1f/")],
        [("http://a.test", 0, None), ("no url", 0, ""), ("", 0, None)],
    ],
    ids=["one", "queries", "hosts", "ids", "deep", "separators", "none"],
)
def test_groups_are_counted_as_single_urls(tmp_path, urls):
    assert counted(filled(tmp_path, urls)) == one_by_one(urls)


@pytest.mark.parametrize(
    "damage",
    [
        "url = CAST(url AS BLOB)",
        "url = CAST(x'687474703a2f2f612e746573742fff' AS TEXT)",
        "found_on = CAST(found_on AS BLOB)",
        "depth = 'deep'",
    ],
)
def test_damaged_values_do_not_end_the_count(tmp_path, damage):
    """Whether such a row is whole is found out when its turn comes."""
    path = filled(tmp_path, [(f"http://a.test/{n}/{ID}", 1, f"http://{ID}/") for n in range(9)])
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"UPDATE urls SET {damage} WHERE id = 2700")
        database.commit()

    rows, pages, *_ = counted(path)

    assert rows == pages["a.test"] == 9
