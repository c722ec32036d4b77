import json
import sqlite3

import pytest

from crawler.feed import FeedError, Sqlite


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.db"


def write(path, *records, **options):
    with Sqlite(path, **options) as feed:
        for record in records:
            feed(record)
    return feed


def query(path, statement="SELECT * FROM items"):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def columns(path, table="items"):
    return [name for _, name, *_ in query(path, f'PRAGMA table_info("{table}")')]


def test_values_keep_their_kind(path):
    write(path, {"i": 1, "f": 1.5, "t": "1", "b": True, "n": None, "list": [1, {"a": 2}]})

    assert query(path) == [(1, 1, 1.5, "1", 1, None, '[1, {"a": 2}]')]
    assert query(path, """SELECT json_extract(list, '$[1].a') FROM items""") == [(2,)]


def test_rows_are_committed_by_number(path):
    with Sqlite(path, batch=3, seconds=1000) as feed:
        seen = []
        for n in range(7):
            feed({"n": n})
            seen.append(len(query(path)))
    assert seen == [0, 0, 3, 3, 3, 6, 6]
    assert len(query(path)) == 7


def test_rows_are_committed_by_time(path, monkeypatch):
    now = 100.0
    monkeypatch.setattr("crawler.feed.sqlite.monotonic", lambda: now)
    with Sqlite(path, seconds=2) as feed:
        feed({"n": 1})
        now += 1.9
        feed({"n": 2})
        assert query(path) == []
        now += 0.2
        feed({"n": 3})
        assert len(query(path)) == 3


def test_rows_are_committed_by_weight(path):
    with Sqlite(path) as feed:
        for _ in range(5):
            feed({"body": "x" * 1_000_000})
        assert len(query(path)) == 5


def test_others_may_read_while_it_writes(path):
    reader = sqlite3.connect(path)
    with Sqlite(path) as feed:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM items").fetchall()
        for n in range(10):
            feed({"n": n, f"column {n}": n})
            feed.flush()
        reader.execute("COMMIT")
        assert len(reader.execute("SELECT * FROM items").fetchall()) == 10
    reader.close()


def test_a_locked_file_costs_only_time(path):
    feed = Sqlite(path, batch=1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(sqlite3.OperationalError, match="locked"):
        feed({"n": 1, "new": 1})
    other.execute("ROLLBACK")
    other.close()
    feed({"n": 2, "new": 2})
    feed.close()

    assert query(path, "SELECT n, new FROM items") == [(2, 2)]


def test_names_sqlite_would_confuse_stand_together_as_json(path):
    record = {"Name": 1, "name": [2], "a\0b": 3, "_rowid_": 4, "_more": 5, "_MORE": 6, "x" * 201: 7}

    write(path, record)

    assert columns(path) == ["_rowid_", "Name", "_more"]
    ((number, name, more),) = query(path)
    assert (number, name) == (1, 1)
    assert json.loads(more) == {k: v for k, v in record.items() if k != "Name"}


def test_columns_beyond_five_hundred_stand_together_as_json(path):
    write(path, {f"c{n}": n for n in range(600)}, {"c599": "again", "c1": 1})

    assert len(columns(path)) == 501
    first, second = query(path, "SELECT c1, _more FROM items")
    assert first[0] == second[0] == 1
    assert len(json.loads(first[1])) == 101
    assert json.loads(second[1]) == {"c599": "again"}


@pytest.mark.parametrize("table", ["pages", 'odd "name"', "select", "; DROP TABLE items", "é"])
def test_the_table_may_have_any_name(path, table):
    write(path, {"n": 1}, table=table)
    write(path, {"n": 2, "late": 1}, table=table, append=True)

    quoted = table.replace('"', '""')
    assert query(path, f'SELECT n FROM "{quoted}"') == [(1,), (2,)]


@pytest.mark.parametrize("table", ["", "a\0b"])
def test_a_table_that_cannot_be_is_refused(path, table):
    with pytest.raises(ValueError, match="a table cannot be named"):
        Sqlite(path, table=table)


def test_other_tables_are_left_alone(path):
    write(path, {"n": 1}, table="mine")
    write(path, {"n": 2})
    write(path, {"n": 3})

    assert query(path, "SELECT n FROM mine") == [(1,)]
    assert query(path, "SELECT n FROM items") == [(3,)]


def test_positions_outlive_a_vacuum(path):
    with Sqlite(path) as feed:
        for n in range(5):
            feed({"n": n})
        position = feed.position()
        feed({"n": 5})
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DELETE FROM items WHERE n = 2")
    connection.execute("VACUUM")
    connection.close()

    write(path, {"n": "end"}, position=position)

    assert query(path, "SELECT n FROM items") == [(0,), (1,), (3,), (4,), ("end",)]


def test_a_file_that_is_no_database_is_left_alone(path):
    path.write_text("not a database, but something dear to its owner " * 100)
    before = path.read_bytes()

    with pytest.raises(FeedError, match=r"cannot write to .*items.db: file is not a database"):
        Sqlite(path)
    assert path.read_bytes() == before


def test_new_columns_of_a_commit_that_failed_are_made_by_the_next(path, monkeypatch):
    feed = Sqlite(path, batch=2)
    feed({"a": 1})
    insert = feed._insert

    def fail(*_):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(feed, "_insert", fail)
    with pytest.raises(sqlite3.OperationalError, match="disk"):
        feed({"b": 2})
    assert columns(path) == ["_rowid_"]
    monkeypatch.setattr(feed, "_insert", insert)
    feed({"b": 3})
    feed.close()

    assert query(path, "SELECT a, b FROM items") == [(1, None), (None, 3)]
