"""Checks that every feed of a job directory has every page exactly once."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from ...feed import parquet_columns as columns
from ...feed.feed_spec import FeedSpec
from ...feed.warc.writer import address
from ...job.directory import STATE
from .archive_check import exchanges_lost_and_doubled
from .killed_crawl import FEEDS

#: Outcomes of URLs that have no record: robots.txt forbids them, or they lead to a known page.
_WITHOUT_RECORD = {("refused", "robots"), ("refused", "seen")}
#: The fields of a record that do not depend on how the crawl went, besides its URL.
_FIELDS = ("status", "bytes", "title")

Row = tuple[str, ...]


@dataclass(frozen=True)
class OutputCheck:
    """
    What is wrong with the outputs.

    Pages missing from a feed, records that are there twice, exchanges missing from the archive,
    exchanges that are there twice, and other problems.
    """

    lost: int
    doubled: int
    exchanges_lost: int
    exchanges_doubled: int
    problems: list[str]


def check_outputs(folder: Path, pages: AbstractSet[str]) -> OutputCheck:
    """Compare the outputs in *folder* with the URLs of all *pages* that have a record."""
    found = {name: _rows(folder, name) for name in FEEDS}
    lost: set[str] = set()
    doubled, problems = 0, list(_state_problems(folder))
    for name, rows in found.items():
        urls = Counter(url for url, *_ in rows)
        lost |= pages - urls.keys()
        doubled += urls.total() - len(urls)
        if unknown := urls.keys() - pages:
            problems.append(f"{name} has pages that do not exist: {sorted(unknown)[:3]}")
    lines, *others = (sorted(found[name]) for name in FEEDS)
    if any(other != lines for other in others):
        problems.append("the feeds have different records")
    return OutputCheck(len(lost), doubled, *exchanges_lost_and_doubled(folder), problems)


def _state_problems(folder: Path) -> Iterator[str]:
    with closing(sqlite3.connect(folder / STATE)) as connection:
        counted = connection.execute("SELECT status, reason, count(*) FROM urls GROUP BY 1, 2")
        for status, reason, number in counted:
            if status != "done" and (status, reason) not in _WITHOUT_RECORD:
                yield f"{number} URLs are {status or 'pending'}, {reason}"


def row_of(record: dict[str, Any]) -> Row:
    """Return what does not depend on how the crawl went; a URL has no fragment."""
    return (address(record["url"]), *(str(record[name]) for name in _FIELDS))


def jsonl_rows(path: Path) -> list[Row]:
    text = path.read_bytes()
    lines = text.decode().splitlines() if text.endswith(b"\n") else ["an incomplete line"]
    return [row_of(json.loads(line)) for line in lines]


def _rows(folder: Path, feed: str) -> list[Row]:
    """Return the rows of *feed*; of a series of files all in turn."""
    spec = FeedSpec.parse(feed)
    read = _READERS[spec.format]
    if not spec.is_numbered:
        return read(folder / spec.path)
    paths = (folder / spec.numbered_path(number) for number in count(1))
    return [row for path in takewhile(Path.exists, paths) for row in read(path)]


def _gzip(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [row_of(json.loads(line)) for line in lines]


def _csv(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [row_of(row) for row in csv.DictReader(file, strict=True)]


def _sqlite(path: Path) -> list[Row]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [row_of(dict(row)) for row in connection.execute("SELECT * FROM items")]


def _parquet(path: Path) -> list[Row]:
    return [row_of(row) for row in columns.parquet().read_table(path).to_pylist()]


_READERS: dict[str, Callable[[Path], list[Row]]] = {
    "jsonl": jsonl_rows,
    "jsonl.gz": _gzip,
    "csv": _csv,
    "sqlite": _sqlite,
    "parquet": _parquet,
}
