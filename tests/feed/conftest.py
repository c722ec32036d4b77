"""All feeds behind one interface: how to open each, and how other programs read its file."""

import csv
import gzip
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from crawler.feed import open_feed
from crawler.feed.record import as_record, cell

csv.field_size_limit(2**30)


class Kind:
    """A kind of feed; *name* is the name of its file."""

    name: str

    def open(self, directory: Path, **options):
        return open_feed(str(directory / self.name), **options)

    def read(self, directory: Path) -> list[dict]:
        """Return the records as another program reads them; missing fields are missing."""
        raise NotImplementedError

    def expected(self, record: dict) -> dict:
        """Return *record* as read() should return it."""
        cells = {name: cell(value) for name, value in as_record(record).items()}
        return {name: value for name, value in cells.items() if value is not None}

    def write(self, directory: Path, records, **options):
        with self.open(directory, **options) as feed:
            for record in records:
                feed(record)
        return feed


class JsonLinesKind(Kind):
    name = "items.jsonl"

    def read(self, directory):
        content = (directory / self.name).read_bytes()
        assert content.endswith(b"\n") or not content
        return [json.loads(line) for line in content.split(b"\n")[:-1]]

    def expected(self, record):
        return as_record(record)


class JsonLinesGzipKind(JsonLinesKind):
    name = "items.jsonl.gz"

    def read(self, directory):
        with gzip.open(directory / self.name) as file:
            content = file.read()
        assert content.endswith(b"\n") or not content
        return [json.loads(line) for line in content.split(b"\n")[:-1]]


class CsvKind(Kind):
    name = "items.csv"

    def read(self, directory):
        with (directory / self.name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert all(None not in row and None not in row.values() for row in rows), "ragged"
        return [{name: value for name, value in row.items() if value} for row in rows]

    def expected(self, record):
        shown = {k.replace("\0", "\ufffd"): v for k, v in super().expected(record).items()}
        return {name: text for name, value in shown.items() if (text := self.text(value))}

    def text(self, value):
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value).replace("\0", "\ufffd")


class SqliteKind(Kind):
    name = "items.db"

    def read(self, directory):
        connection = sqlite3.connect(directory / self.name)
        connection.row_factory = sqlite3.Row
        rows = [dict(row) for row in connection.execute("SELECT * FROM items ORDER BY _rowid_")]
        connection.close()
        for row in rows:
            del row["_rowid_"]
            row.update(json.loads(row.pop("_more", None) or "{}"))
        return [{k: v for k, v in row.items() if v is not None} for row in rows]


class ParquetKind(Kind):
    name = "items.parquet"

    def read(self, directory):
        import pyarrow.parquet

        rows = pyarrow.parquet.read_table(directory / self.name).to_pylist()
        return [{k: v for k, v in row.items() if v is not None} for row in rows]


KINDS = [JsonLinesKind(), JsonLinesGzipKind(), CsvKind(), SqliteKind(), ParquetKind()]


@pytest.fixture(scope="session", params=KINDS, ids=lambda kind: kind.name)
def kind(request):
    return request.param


@pytest.fixture
def killed(tmp_path):
    """Return a directory with the files that a process killed now would leave."""
    copies = iter(range(1000))

    def copy(directory: Path) -> Path:
        return shutil.copytree(directory, tmp_path / f"killed-{next(copies)}")

    return copy


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture(scope="session")
def naughty():
    return NAUGHTY


NAUGHTY = [
    "",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "a\nb",
    "a\rb",
    "a\r\nb\n",
    "\n\n\n",
    "\0",
    "a\0b",
    "\x01\x02\x07\x08\x1b[31mred\x1b[0m",
    "\x7f",
    "\x85",
    "\x9b31m",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\ufffe",
    "\uffff",
    "\ufffd",
    "\u200b\u200e\u202e",
    "\u00ad",
    '"',
    '""',
    '"""',
    "'",
    "a,b",
    ",",
    ",,,",
    ";",
    '","',
    '"\r\n"',
    'a"b',
    '\\"',
    "\\",
    "\\n",
    "\\u0000",
    "\\N",
    "NULL",
    "null",
    "None",
    "true",
    "NaN",
    "0",
    "-0",
    "1e309",
    "0x10",
    "007",
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "'; DROP TABLE items; --",
    '"; DROP TABLE items; --',
    "[x]",
    "{}",
    '{"a": 1}',
    "</script><script>alert(1)</script>",
    "<!--",
    "%s%n%x",
    "${jndi:ldap://x}",
    "../../etc/passwd",
    "é",
    "e\u0301",
    "ß",
    "İstanbul",
    "田中さん",
    "الكل",
    "👩‍👩‍👧‍👦",
    "\U0010ffff",
    "𝒳",
    "Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮",
    "\ud800",
    "\udfff",
    "a\udc80b",
    "\ud83d\ude00",
    "x" * 200_000,
    "rowid",
    "_rowid_",
    "_more",
    "select",
]
