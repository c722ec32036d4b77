"""What a crawl has left in its directory: every page in every output, once, and whole."""

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

#: What a record of a page tells that is the same however the crawl went.
_FIELDS = ("url", "status", "bytes", "title")

Told = tuple[str, ...]


@dataclass(frozen=True)
class Aftermath:
    """How many pages are missing somewhere, how many records are there twice; and what is wrong."""

    lost: int
    doubled: int
    problems: list[str]


def look(folder: Path, pages: AbstractSet[str]) -> Aftermath:
    """Compare what is in *folder* with the URLs of the *pages* that there are."""
    found = {name: read(folder / name) for name, read in _READERS.items()}
    lost: set[str] = set()
    doubled, problems = 0, list(_state_problems(folder))
    for name, told in found.items():
        urls = Counter(url for url, *_ in told)
        lost |= pages - urls.keys()
        doubled += urls.total() - len(urls)
        if strange := urls.keys() - pages:
            problems.append(f"{name} has pages that there are not: {sorted(strange)[:3]}")
    lines, *others = (sorted(found[name]) for name in FEEDS)
    if any(other != lines for other in others):
        problems.append("the feeds tell different things")
    return Aftermath(len(lost), doubled, problems)


def _state_problems(folder: Path) -> Iterator[str]:
    with closing(sqlite3.connect(folder / STATE)) as connection:
        counted = dict(connection.execute("SELECT status, count(*) FROM urls GROUP BY status"))
    if counted.keys() != {"done"}:
        yield f"not all is done: {counted}"


def _jsonl(path: Path) -> list[Told]:
    text = path.read_bytes()
    lines = text.decode().splitlines() if text.endswith(b"\n") else ["a line without an end"]
    return [_told(json.loads(line)) for line in lines]


def _csv(path: Path) -> list[Told]:
    with path.open(newline="") as file:
        return [_told(row) for row in csv.DictReader(file, strict=True)]


def _sqlite(path: Path) -> list[Told]:
    with closing(sqlite3.connect(path)) as connection:
        query = f"SELECT {', '.join(_FIELDS)} FROM items"  # noqa: S608 - constants
        return [tuple(map(str, row)) for row in connection.execute(query)]


def _parquet(path: Path) -> list[Told]:
    return [_told(row) for row in columns.parquet().read_table(path).to_pylist()]


def _warc(path: Path) -> list[Told]:
    """Return the pages of the responses; a torn record at the end is a page too few."""
    archived = (record.fields for record in records(path.read_bytes()))
    urls = (f["warc-target-uri"] for f in archived if f["warc-type"] == "response")
    return [(url,) for url in urls if not url.endswith("/robots.txt")]


def _told(record: dict[str, Any]) -> Told:
    return tuple(str(record[name]) for name in _FIELDS)


_READERS: dict[str, Callable[[Path], list[Told]]] = {
    **dict(zip(FEEDS, (_jsonl, _csv, _sqlite, _parquet), strict=True)),
    ARCHIVE: _warc,
}
