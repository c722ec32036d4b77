import errno
import sys

import pytest

from crawler.feed import FeedError, Parquet, open_feed
from crawler.feed import parquet_columns as columns

pyarrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.parquet"


def write(path, *records, **options):
    with Parquet(path, **options) as feed:
        for record in records:
            feed(record)
    return feed


def read(path):
    return pq.read_table(path).to_pylist()


def kinds(path):
    return {field.name: str(field.type) for field in pq.read_schema(path)}


def numbers(count, start=0):
    return [{"n": n} for n in range(start, start + count)]


def test_a_column_has_the_kind_of_its_values(path):
    write(path, {"i": 1, "f": 1.5, "t": "a", "b": True, "n": None, "l": [1]}, {"i": None})

    assert kinds(path) == {
        "i": "int64",
        "f": "double",
        "t": "string",
        "b": "bool",
        "n": "null",
        "l": "string",
    }


@pytest.mark.parametrize("group", [1, 2, 100])
def test_a_column_of_several_kinds_holds_them_all(path, group):
    write(
        path,
        {"number": 1, "mixed": True, "late": None},
        {"number": 2.5, "mixed": 3, "late": None},
        {"number": None, "mixed": "x", "late": 7},
        {"number": 4, "mixed": 0.5, "late": 8},
        group=group,
    )

    assert kinds(path) == {"number": "double", "mixed": "string", "late": "int64"}
    assert pq.read_table(path).to_pydict() == {
        "number": [1.0, 2.5, None, 4.0],
        "mixed": ["true", "3", "x", "0.5"],
        "late": [None, None, 7, 8],
    }


def test_rows_are_written_in_groups(path):
    write(path, *numbers(25), group=10)

    metadata = pq.read_metadata(path)
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [10, 10, 5]


def test_a_heavy_group_ends_early(path, monkeypatch):
    monkeypatch.setattr("crawler.feed.parquet._LARGEST", 1000)

    write(path, *({"n": n, "text": "x" * 600} for n in range(4)))

    assert pq.read_metadata(path).num_row_groups == 2


def test_finished_parts_can_be_read_while_it_is_open(path):
    with Parquet(path, group=10) as feed:
        for record in numbers(25):
            feed(record)
        parts = path.with_name("items.parquet.parts")
        assert dataset.dataset(sorted(parts.glob("*.parquet"))).count_rows() == 20
        assert len((parts / "000002.jsonl").read_text().splitlines()) == 5
        assert not path.exists()
    assert read(path) == numbers(25)


def test_what_a_killed_feed_left_is_taken_over(path, killed):
    home = path.parent
    (home / "home").mkdir()
    feed = Parquet(home / "home" / "items.parquet", group=10)
    for record in numbers(25):
        feed(record)

    left = killed(home / "home")
    write(left / "items.parquet", *numbers(3, start=25), append=True, group=10)

    assert read(left / "items.parquet") == numbers(28)
    feed.close()


def test_a_spool_torn_at_any_byte_loses_only_the_torn_row(path):
    parts = path.with_name("items.parquet.parts")
    feed = Parquet(path)
    for record in numbers(3):
        feed(record)
    content = (parts / "000000.jsonl").read_bytes()

    for end in range(len(content) + 1):
        (parts / "000000.jsonl").write_bytes(content[:end])
        feed = Parquet(path, append=True)
        assert feed.position() == content[:end].count(b"\n")
    feed.close()


def test_killed_between_the_part_and_the_end_of_its_spool_no_row_is_double(path):
    parts = path.with_name("items.parquet.parts")
    feed = Parquet(path, group=10)
    for record in numbers(9):
        feed(record)
    spool = (parts / "000000.jsonl").read_bytes()
    feed({"n": 9})
    (parts / "000000.jsonl").write_bytes(spool + b'{"n": 9}\n')

    write(path, {"n": 10}, append=True)

    assert read(path) == numbers(11)


def test_killed_between_joining_and_clearing_up_no_row_is_double(path, monkeypatch):
    monkeypatch.setattr("crawler.feed.parquet.shutil.rmtree", lambda *_, **__: None)
    write(path, *numbers(25), group=10)
    monkeypatch.undo()
    assert path.with_name("items.parquet.parts").exists()

    write(path, {"n": 25}, append=True)

    assert read(path) == numbers(26)
    assert not path.with_name("items.parquet.parts").exists()


@pytest.mark.parametrize("position", range(26))
def test_it_can_be_cut_back_inside_any_group_open_or_joined(path, position):
    write(path, *numbers(12), group=5)
    with Parquet(path, append=True, group=5) as feed:
        for record in numbers(14, start=12):
            feed(record)
        feed.rewind(position)
        assert feed.position() == position
        feed({"n": "end"})

    assert [str(row["n"]) for row in read(path)] == [*map(str, range(position)), "end"]


def test_a_group_that_cannot_be_finished_waits_for_a_better_time(path, monkeypatch):
    feed = Parquet(path, group=3)
    table_of = columns.table_of

    def fail(_rows):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(columns, "table_of", fail)
    feed({"n": 0})
    feed({"n": 1})
    for _ in range(3):
        with pytest.raises(OSError, match="No space left"):
            feed({"n": "lost"})
    monkeypatch.setattr(columns, "table_of", table_of)
    feed({"n": 2})
    feed.close()

    assert read(path) == numbers(3)


def test_closing_that_fails_can_be_made_good_by_the_next(path, monkeypatch):
    feed = Parquet(path, group=3)
    for record in numbers(7):
        feed(record)

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(columns, "join", fail)
    with pytest.raises(OSError, match="No space left"):
        feed.close()
    monkeypatch.undo()
    feed.close()
    write(path, {"n": 7}, append=True)

    assert read(path) == numbers(8)


def test_a_file_from_elsewhere_keeps_its_columns(path):
    table = pyarrow.table({"when": pyarrow.array([0], pyarrow.timestamp("ms")), "tags": [["a"]]})
    pq.write_table(table, path)

    write(path, {"n": 1, "tags": "b"}, append=True)

    assert kinds(path) == {"when": "timestamp[ms]", "tags": "string", "n": "int64"}
    assert [row["tags"] for row in read(path)] == ['["a"]', "b"]


def test_a_file_that_is_no_parquet_is_left_alone(path):
    path.write_text("dear to its owner")

    with pytest.raises(FeedError, match=r"items.parquet is not a whole Parquet file"):
        Parquet(path, append=True)
    assert path.read_text() == "dear to its owner"


def test_a_directory_in_the_way_is_an_error(path):
    path.mkdir()

    with pytest.raises(FeedError, match="is not a file: remove it"):
        Parquet(path)


def test_without_pyarrow_the_extra_is_named(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(FeedError, match=r"this needs pyarrow: pip install -e '.*\[parquet\]'"):
        open_feed(str(path))
    assert not path.exists()
    assert not path.with_name("items.parquet.parts").exists()
