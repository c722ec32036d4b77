"""Checks that an archive has every exchange of a job exactly once, and can be replayed."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ...compose import crawl
from ...feed import WarcSite
from ...feed.warc.reader import head_of, records
from ...feed.warc.replay import OFFLINE
from ...feed.warc.writer import address
from ...job.directory import STATE
from ...spider import PageSpider
from .killed_crawl import ARCHIVE, SETTINGS

_ROWS = "SELECT url, redirects, attempts, code FROM urls"
_ORIGINS = "SELECT origin FROM robots"


class Exchange(NamedTuple):
    """A URL, and the first digit of the status of its response."""

    url: str
    kind: int


def exchanges_lost_and_doubled(folder: Path) -> tuple[int, int]:
    """Compare the archive in *folder* with the exchanges that the state there tells of."""
    archived = list(_archived(folder / ARCHIVE))
    found = Counter(exchange for exchange, _ in archived)
    with closing(sqlite3.connect(folder / STATE)) as connection:
        expected = Counter(_of_pages(connection))
        expected.update(_of_robots(connection, archived))
    return (expected - found).total(), (found - expected).total()


def replayed(folder: Path, url: str) -> list[dict[str, Any]]:
    """Return the records of the same crawl of the archive; raise ValueError if a page fails."""
    with WarcSite(folder / ARCHIVE) as site:
        spider = PageSpider(start_urls=[url])
        result = crawl(spider, fetch=site, **{**SETTINGS, **OFFLINE, "robots": True})
    if result.errors:
        raise ValueError(f"{len(result.errors)} errors, the first is {result.errors[0]}")
    return result.items


def _archived(path: Path) -> Iterator[tuple[Exchange, str]]:
    """Yield all exchanges, and where redirects lead to; a truncated last record is missing."""
    for record in records(path.read_bytes()):
        if record.fields["warc-type"] == "response":
            first, headers = head_of((record.block or b"").partition(b"\r\n\r\n")[0])
            kind = int(first.split()[1]) // 100
            location = headers["location"] if kind == 3 else ""
            yield Exchange(record.fields["warc-target-uri"], kind), location


def _of_pages(connection: sqlite3.Connection) -> Iterator[Exchange]:
    """Yield the exchanges of each URL: redirects, attempts that were answered, and the last one."""
    for url, redirects, attempts, code in connection.execute(_ROWS):
        *hops, last = map(address, [url, *json.loads(redirects or "[]")])
        yield from (Exchange(hop, 3) for hop in hops)
        for attempt in json.loads(attempts or "[]"):
            if attempt.startswith("status "):
                yield Exchange(last, int(attempt.split()[1]) // 100)
        if code is not None:
            yield Exchange(last, code // 100)


def _of_robots(
    connection: sqlite3.Connection, archived: list[tuple[Exchange, str]]
) -> Iterator[Exchange]:
    """Yield the exchanges of each robots.txt; of its redirects only the archive knows."""
    answers = {exchange.url: (exchange, location) for exchange, location in archived}
    for (origin,) in connection.execute(_ORIGINS):
        location = f"{origin}/robots.txt"
        while location:
            exchange, location = answers.get(location, (Exchange(location, 2), ""))
            yield exchange
