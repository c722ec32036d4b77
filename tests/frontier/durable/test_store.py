"""What the thread of a store does while the recovery of a job goes on."""

from contextlib import closing

import pytest

from crawler.errors import JobError
from crawler.frontier.durable.store import Store

_TABLES = "SELECT name FROM sqlite_master WHERE name IN ('one', 'two')"


@pytest.fixture
def store(tmp_path):
    with closing(Store(tmp_path / "state.db")) as store:
        yield store


def test_what_is_done_meanwhile_belongs_to_the_transaction(store):
    with store.change_all(), store.meanwhile("CREATE TABLE one (x)", "CREATE TABLE two (x)"):
        pass

    assert [*store.rows(_TABLES)] == [("one",), ("two",)]


def test_an_error_of_the_thread_ends_the_transaction(store):
    with (
        pytest.raises(JobError, match="no such table"),
        store.change_all(),
        store.meanwhile("CREATE TABLE one (x)", "DROP TABLE missing"),
    ):
        pass

    assert not [*store.rows(_TABLES)]


def test_an_error_of_the_block_ends_the_transaction_after_the_thread(store):
    with (
        pytest.raises(ZeroDivisionError),
        store.change_all(),
        store.meanwhile("CREATE TABLE one (x)"),
    ):
        _ = 1 / 0

    assert not [*store.rows(_TABLES)]
