import pytest

from crawler.portal.store.database import Database


def test_the_file_is_for_its_owner_only(database, tmp_path):
    assert (tmp_path / "portal.db").stat().st_mode & 0o777 == 0o600


def test_a_transaction_that_fails_changes_nothing(database):
    with pytest.raises(RuntimeError), database.transaction():
        database.audit(1.0, "a", "b")
        raise RuntimeError

    assert database.rows("SELECT * FROM audit") == []


def test_it_can_be_opened_again(database, tmp_path):
    database.audit(1.0, "a", "b")

    again = Database(tmp_path / "portal.db")

    assert [tuple(row) for row in again.rows("SELECT * FROM audit")] == [(1.0, "a", "b")]
    again.close()
