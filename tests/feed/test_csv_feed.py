import csv
import io
import os

import pytest

from crawler.feed import Csv, FeedError
from crawler.feed import csv_feed as csvfile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.csv"


@pytest.fixture
def large(monkeypatch):
    """Treat every file as too large to be rewritten for each new column."""
    monkeypatch.setattr(csvfile, "_SMALL", 0)


def write(path, *records, **options):
    with Csv(path, **options) as feed:
        for record in records:
            feed(record)
    return feed


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_it_is_rfc_4180(path):
    write(path, {"a": 1, "b": 'say "hi"'}, {"a": "x,y", "b": "two\nlines"})

    assert path.read_bytes() == b'a,b\r\n1,"say ""hi"""\r\n"x,y","two\nlines"\r\n'


def test_a_cell_says_what_json_would(path):
    write(path, {"n": None, "t": True, "f": False, "x": 1.5, "list": [1, "é"], "o": {"a": None}})

    assert rows(path)[1] == ["", "true", "false", "1.5", '[1, "é"]', '{"a": null}']


def test_every_row_is_as_wide_as_the_header_at_every_moment(path):
    with Csv(path) as feed:
        for n in range(30):
            feed({f"column {n // 3}": 'a\r\n"b"', "n": n})
            header, *found = rows(path)
            assert len(found) == n + 1
            assert {len(row) for row in found} == {len(header)}
    assert feed.columns == ("column 0", "n", *(f"column {n}" for n in range(1, 10)))


def test_a_large_file_is_rewritten_for_many_rows_at_once(path, large, monkeypatch):
    rewrites = []
    put_in_place = csvfile.put_in_place
    monkeypatch.setattr(
        csvfile, "put_in_place", lambda *args: (rewrites.append(args), put_in_place(*args))
    )
    with Csv(path) as feed:
        feed({"n": 0})
        feed.flush()
        for n in range(1, 2500):
            feed({"n": n, f"column {n}": n} if n % 100 == 0 else {"n": n})

    assert len(rewrites) == 3
    header, *found = rows(path)
    assert [row[0] for row in found] == [str(n) for n in range(2500)]
    assert header == ["n", *(f"column {n}" for n in range(100, 2500, 100))]


def test_rows_that_wait_for_a_new_column_are_there_after_a_flush(path, large):
    with Csv(path) as feed:
        feed({"a": 1})
        feed.flush()
        feed({"b": 2})
        assert rows(path) == [["a"], ["1"]]
        feed.flush()
        assert rows(path) == [["a", "b"], ["1", ""], ["", "2"]]


def test_heavy_rows_do_not_wait_long(path, large):
    with Csv(path) as feed:
        feed({"a": 1})
        feed.flush()
        feed({"b": "x" * 3_000_000})
        assert len(rows(path)) == 2
        feed({"b": "x" * 3_000_000})
        csv.field_size_limit(2**30)
        assert len(rows(path)) == 4


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64])
def test_a_rewrite_is_right_wherever_its_pieces_end(path, monkeypatch, piece):
    monkeypatch.setattr(csvfile, "_PIECE", piece)
    naughty = ["", '"', '"\r\n"', "\r\n", "\n", "\r", ",", 'a"b', 'x\r\n"y"']

    write(path, *({"n": n, "text": text} for n, text in enumerate(naughty)), {"late": "\r\n"})

    assert rows(path)[1:-1] == [[str(n), text, ""] for n, text in enumerate(naughty)]
    assert rows(path)[-1] == ["", "", "\r\n"]


def test_killed_while_it_rewrites_it_is_the_old_file(path, monkeypatch):
    write(path, {"a": 1})
    before = path.read_bytes()

    class Killed(BaseException): ...

    def kill(*_):
        raise Killed

    feed = Csv(path, append=True)
    monkeypatch.setattr(csvfile, "put_in_place", kill)
    with pytest.raises(Killed):
        feed({"b": 2})
    monkeypatch.undo()

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    feed({"b": 3})
    feed.close()
    assert rows(path) == [["a", "b"], ["1", ""], ["", "3"]]


def test_a_draft_left_by_a_kill_is_removed(path):
    draft = path.with_name(".items.csv.draft")
    draft.write_text("half a file")

    write(path, {"a": 1}, append=True)

    assert not draft.exists()


def test_widening_keeps_the_mode_of_the_file_and_the_link_to_it(path, tmp_path):
    write(path, {"a": 1})
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(path)

    write(link, {"b": 2}, append=True)

    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert rows(path) == [["a", "b"], ["1", ""], ["", "2"]]


def test_a_device_gets_no_new_columns():
    with Csv("/dev/null") as feed:
        feed({"a": 1})
        with pytest.raises(FeedError, match=r"/dev/null is not a file, so it cannot get .*\['b'\]"):
            feed({"b": 2})
    assert not os.path.isfile("/dev/null")  # noqa: PTH113


def test_a_position_outlives_a_rewrite(path):
    with Csv(path) as feed:
        feed({"a": "1\r\n"})
        feed({"a": "2"})
        position = feed.position()
        feed({"a": "3", "late": "x"})

    write(path, {"a": "4"}, position=position)

    assert rows(path) == [["a", "late"], ["1\r\n", ""], ["2", ""], ["4", ""]]


def test_torn_at_any_byte_it_goes_on_after_the_last_position(path):
    first, later = [{"a": 'x\r\n"', "b": 1}, {"a": "y"}], [{"a": '"\n,"', "b": "\r"}, {"b": "z"}]
    with Csv(path) as feed:
        for record in first:
            feed(record)
        position, start = feed.position(), path.stat().st_size
        for record in later:
            feed(record)
    content = path.read_bytes()

    for end in range(start, len(content) + 1):
        path.write_bytes(content[:end])
        write(path, *later, position=position)
        assert path.read_bytes() == content


def test_torn_at_any_byte_it_goes_back_to_the_very_start(path):
    write(path, {"a": 'x\r\n"', "b": 1}, {"a": "y"})
    content = path.read_bytes()

    for end in range(len(content) + 1):
        path.write_bytes(content[:end])
        write(path, {"a": 'x\r\n"', "b": 1}, {"a": "y"}, position=0)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"a,b\r\n1,2", b"\xef\xbb\xbfa,b\r\n1,2\r\n", b'"a","b"\n"1","2"']
)
def test_a_file_from_elsewhere_can_be_continued(path, content):
    path.write_bytes(content)

    write(path, {"b": "y"}, {"late": "z"}, append=True)

    assert rows(path) == [["a", "b", "late"], ["1", "2", ""], ["", "y", ""], ["", "", "z"]]


def test_a_header_alone_decides_the_order_of_columns(path):
    path.write_text("price,name")

    feed = write(path, {"name": "tea", "price": 3}, append=True)

    assert rows(path) == [["price", "name"], ["3", "tea"]]
    assert feed.position() == 1


@pytest.mark.parametrize("content", [b'a,b\r\n1,"2', b"a,b\r\n1", b'a,b\r\n1,2"\r\n3,4'])
def test_a_last_row_that_is_not_whole_is_left_alone(path, content):
    path.write_bytes(content)

    with pytest.raises(FeedError, match=r"the last row of .* is not whole: repair or remove it"):
        Csv(path, append=True)
    assert path.read_bytes() == content


def test_two_columns_of_one_name_cannot_be_continued(path):
    path.write_bytes(b"a,a\r\n1,2\r\n")

    with pytest.raises(FeedError, match=r"two columns of .* have the same name: \['a', 'a'\]"):
        Csv(path, append=True)


def test_a_record_without_fields_makes_no_row(path):
    feed = write(path, {}, {"a": None}, {}, {"a": 1})

    assert rows(path) == [["a"], [""], ["1"]]
    assert feed.columns == ("a",)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1-1", "-1+cmd|' /C calc'!A0", "@x", "\t=1", "\r=1", "\n=1", "＝1", "-"]
)
def test_a_formula_is_text_when_asked_for(path, text):
    write(path, {"x": text, text: "name", "n": -1, "plain": "1=1"}, escape_formulas=True)
    write(path, {text: "again"}, append=True, escape_formulas=True)

    assert rows(path) == [
        ["x", f"'{text}", "n", "plain"],
        [f"'{text}", "name", "-1", "1=1"],
        ["", "again", "", ""],
    ]


@pytest.mark.parametrize("text", ["-1", "+1.5", "-1,000.25", "-1e5", "+4912345"])
def test_a_number_is_no_formula(path, text):
    write(path, {"x": text}, escape_formulas=True)

    assert rows(path)[1] == [text]


def test_a_formula_is_what_the_page_said_otherwise(path):
    write(path, {"x": "=1+1"})

    assert rows(path)[1] == ["=1+1"]


def test_wide_tables_are_quickly_read_again(path):
    write(path, *({f"c{n}": n for n in range(500)} for _ in range(50)))

    with Csv(path, append=True) as feed:
        assert len(feed.columns) == 500
        assert feed.position() == 50


def test_pythons_reader_agrees_about_where_rows_end(path, naughty):
    texts = [text.encode("utf-8", "replace").decode() for text in naughty if len(text) < 1000]
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([["a", "b"], *([text, text] for text in texts)])
    path.write_bytes(buffer.getvalue().encode())

    with Csv(path, append=True) as feed:
        assert feed.position() == len(texts)
