"""Groups of decisions: when they are committed, and what happens when that fails."""

import sqlite3
from contextlib import closing

import gevent

from crawler.frontier import SqliteJournal


def test_a_store_that_has_nothing_to_write_lets_others_run(tmp_path):
    journal = SqliteJournal(tmp_path / "state.db")

    for _ in range(1000):
        journal.commits.stepped()
    gevent.sleep(0.2)
    journal.commits.wait_for_room()

    journal.close()
    assert journal.commits.failure is None


def test_a_failure_nobody_waited_for_is_told(tmp_path):
    """The store is closed while a commit is under way, which then fails."""
    journal = SqliteJournal(tmp_path / "state.db")
    with closing(sqlite3.connect(journal.store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DROP TABLE facts")
        journal.commits.batch.hosts.append(("a.test", 0, 0.0, "", 0))
        journal.commits.changed()
        gevent.sleep(0.2)
        closer = gevent.spawn(journal.close)
        gevent.sleep(0.1)
        other.execute("COMMIT")
    with gevent.Timeout(120):
        closer.join()

    assert "no such table: facts" in str(journal.commits.failure)
