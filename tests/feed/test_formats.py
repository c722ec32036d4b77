import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.feed import (
    Csv,
    JsonLines,
    JsonLinesGzip,
    Parquet,
    Sqlite,
    Stdout,
    check_feed,
    open_feed,
)


@pytest.mark.parametrize(
    ("spec", "feed", "name"),
    [
        ("a.jsonl", JsonLines, "a.jsonl"),
        ("a.ndjson", JsonLines, "a.ndjson"),
        ("a.jl", JsonLines, "a.jl"),
        ("a.jsonl.gz", JsonLinesGzip, "a.jsonl.gz"),
        ("a.b.JSONL.GZ", JsonLinesGzip, "a.b.JSONL.GZ"),
        ("a.gz:jsonl.gz", JsonLinesGzip, "a.gz"),
        ("A.CSV", Csv, "A.CSV"),
        ("a.sqlite", Sqlite, "a.sqlite"),
        ("a.sqlite3", Sqlite, "a.sqlite3"),
        ("a.b.db", Sqlite, "a.b.db"),
        ("a.parquet", Parquet, "a.parquet"),
        ("a.txt:jsonl", JsonLines, "a.txt"),
        ("a.csv:jsonl", JsonLines, "a.csv"),
        ("no extension:csv", Csv, "no extension"),
        ("a.csv:spreadsheet", Csv, "a.csv"),
        ("a:b.csv", Csv, "a:b.csv"),
        ("a.json:jsonl", JsonLines, "a.json"),
    ],
)
def test_the_name_of_a_file_says_its_format(tmp_path, monkeypatch, spec, feed, name):
    monkeypatch.chdir(tmp_path)
    with open_feed(spec) as opened:
        opened({"n": 1})

    assert type(opened) is feed
    assert opened.path == Path(name)
    assert Path(name).exists()


def test_a_spreadsheet_gets_no_formulas(tmp_path):
    for spec in ("plain.csv", "escaped.csv:spreadsheet"):
        with open_feed(str(tmp_path / spec)) as feed:
            feed({"x": "=1+1"})

    assert (tmp_path / "plain.csv").read_text().splitlines() == ["x", "=1+1"]
    assert (tmp_path / "escaped.csv").read_text().splitlines() == ["x", "'=1+1"]


@pytest.mark.parametrize("spec", ["s3://bucket/a.jsonl", "gs://b/a.csv:jsonl", "file:///a.csv"])
def test_a_url_is_refused_with_what_to_do_instead(tmp_path, monkeypatch, spec):
    monkeypatch.chdir(tmp_path)

    for call in (open_feed, check_feed):
        with pytest.raises(ValueError, match=r"is a URL, and only local files .* name a file"):
            call(spec)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("spec", ["-", "-:jsonl"])
def test_a_dash_is_standard_output(spec):
    assert isinstance(open_feed(spec), Stdout)


@pytest.mark.parametrize("spec", ["a.txt", "a", "a.csv.gz", "a.txt:xml", "", ".csv", "a:"])
def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path, monkeypatch, spec):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"does not name a format: .*\.jsonl, .*\.parquet, .*:csv"):
        open_feed(spec)
    assert list(tmp_path.iterdir()) == []


def test_a_json_array_is_refused_with_what_to_use():
    with pytest.raises(ValueError, match=r"'items.json': a JSON array cannot .* use .jsonl"):
        open_feed("items.json")


def test_standard_output_takes_only_lines():
    with pytest.raises(ValueError, match="standard output takes JSON Lines, not csv"):
        open_feed("-:csv")


def test_appending_and_replacing_are_the_callers_choice(tmp_path):
    path = tmp_path / "a.jsonl"
    for append in (True, True, False, True):
        with open_feed(str(path), append=append) as feed:
            feed({"n": 1})

    assert path.read_text() == '{"n": 1}\n' * 2


def test_importing_the_feeds_imports_no_extra():
    script = (
        "import sys, crawler, crawler.feed\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'pyarrow', 'warcio', 'six'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )

    assert done.stdout == "[]\n", done.stderr


def test_fields_are_chosen_and_ordered(kind, home):
    records = [{"a": 1, "b": "x", "c": 3}, {"c": 4, "d": 5}]
    with open_feed(f"{home / kind.name}:fields=c,a") as feed:
        for record in records:
            assert feed(record) is record

    chosen = [{"c": 3, "a": 1}, {"c": 4, "a": None}]
    assert kind.read(home) == [kind.expected(record) for record in chosen]
    assert list(kind.read(home)[0]) == ["c", "a"]


def test_chosen_fields_are_columns_from_the_start(tmp_path):
    with open_feed(f"{tmp_path}/a.csv:fields=c,a") as feed:
        feed({"a": 1})
        feed({"b": 2})

    assert (tmp_path / "a.csv").read_text().splitlines() == ["c,a", ",1", ","]


def test_a_check_changes_nothing_and_does_not_wait_for_the_reader_of_a_pipe(tmp_path):
    pipe, there = tmp_path / "pipe.jsonl", tmp_path / "there.csv"
    os.mkfifo(pipe)
    there.write_text("kept")

    for path in (pipe, there, tmp_path / "new/deep/x.sqlite"):
        check_feed(str(path))

    assert sorted(tmp_path.rglob("*")) == [pipe, there]
    assert there.read_text() == "kept"
