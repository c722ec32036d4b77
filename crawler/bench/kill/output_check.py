"""Checks that every output of a job directory has every page exactly once."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...feed import parquet_columns as columns
from ...feed.warc.reader import records
from ...job.directory import STATE
from .killed_crawl import ARCHIVE, FEEDS

#: The fields of a record that do not depend on how the crawl went.
_FIELDS = ("url", "status", "bytes", "title")

Row = tuple[str, ...]


@dataclass(frozen=True)
class OutputCheck:
    """The pages missing from an output, the records that are there twice, and other problems."""

    lost: int
    doubled: int
    problems: list[str]


def check_outputs(folder: Path, pages: AbstractSet[str]) -> OutputCheck:
    """Compare the outputs in *folder* with the URLs of all *pages*."""
    found = {name: read(folder / name) for name, read in _READERS.items()}
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
    return OutputCheck(len(lost), doubled, problems)


def _state_problems(folder: Path) -> Iterator[str]:
    with closing(sqlite3.connect(folder / STATE)) as connection:
        counted = dict(connection.execute("SELECT status, count(*) FROM urls GROUP BY status"))
    if counted.keys() != {"done"}:
        yield f"not all URLs are done: {counted}"


def _jsonl(path: Path) -> list[Row]:
    text = path.read_bytes()
    lines = text.decode().splitlines() if text.endswith(b"\n") else ["an incomplete line"]
    return [_row(json.loads(line)) for line in lines]


def _csv(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [_row(row) for row in csv.DictReader(file, strict=True)]


def _sqlite(path: Path) -> list[Row]:
    with closing(sqlite3.connect(path)) as connection:
        query = f"SELECT {', '.join(_FIELDS)} FROM items"  # noqa: S608 - constants
        return [tuple(map(str, row)) for row in connection.execute(query)]


def _parquet(path: Path) -> list[Row]:
    return [_row(row) for row in columns.parquet().read_table(path).to_pylist()]


def _warc(path: Path) -> list[Row]:
    """Return the pages of the responses; a truncated record at the end counts as a missing page."""
    archived = (record.fields for record in records(path.read_bytes()))
    urls = (f["warc-target-uri"] for f in archived if f["warc-type"] == "response")
    return [(url,) for url in urls if not url.endswith("/robots.txt")]


def _row(record: dict[str, Any]) -> Row:
    return tuple(str(record[name]) for name in _FIELDS)


_READERS: dict[str, Callable[[Path], list[Row]]] = {
    **dict(zip(FEEDS, (_jsonl, _csv, _sqlite, _parquet), strict=True)),
    ARCHIVE: _warc,
}
