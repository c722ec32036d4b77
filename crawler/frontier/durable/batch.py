"""Batch: the rows that one transaction writes; Step: what it writes of one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

_INSERT = "INSERT INTO urls (id, key, url, host, depth, priority, found_on, more, met, seal) VALUES"
_TURN_AWAY = """
INSERT INTO urls (id, key, url, host, depth, priority, found_on, met, seal, status, reason, ended, end_seal) VALUES
"""
_END = """
UPDATE urls SET status = v.column2, reason = v.column3, code = v.column4, bytes = v.column5,
    seconds = v.column6, redirects = v.column7, attempts = v.column8, ended = v.column9,
    end_seal = v.column10, progress = NULL
FROM (VALUES {}) AS v WHERE urls.id = v.column1
"""
_WAIT_AGAIN = """
UPDATE urls SET progress = v.column2 FROM (VALUES {}) AS v WHERE urls.id = v.column1
"""
_MOVE = """
UPDATE urls SET depth = v.column2, found_on = v.column3, seal = v.column4
FROM (VALUES {}) AS v WHERE urls.id = v.column1
"""
_HOST = "INSERT OR REPLACE INTO hosts VALUES"
_ROBOTS = "INSERT OR REPLACE INTO robots VALUES"
_NEARER = "INSERT OR REPLACE INTO nearer VALUES"

Values = tuple[Any, ...]


class Step(NamedTuple):
    """
    What changes in the row of a request, and what it has produced since its last step.

    A request that is fetched once has one step, its end. A redirect and a retry are steps too:
    the next process continues after them, and does not repeat what they have produced. A
    request that was not admitted, that of a robots.txt, has no row.
    """

    insert: Values | None = None
    again: Values | None = None
    end: Values | None = None
    output: Any = None


class Batch:
    """
    What one transaction writes: lists of rows, each for one statement.

    *outputs* are what the requests have produced whose steps are in it; they are written to
    the outputs of the job before the transaction.
    """

    def __init__(self) -> None:
        self.outputs: list[Any] = []
        self.inserts: list[Values] = []
        self.turned_away: list[Values] = []
        self.ends: list[Values] = []
        self.again: list[Values] = []
        self.moves: list[Values] = []
        self.hosts: list[Values] = []
        self.robots: list[Values] = []
        self.nearer: list[Values] = []

    def add(self, step: Step) -> None:
        if step.insert is not None:
            self.inserts.append(step.insert)
        if step.again is not None:
            self.again.append(step.again)
        if step.end is not None:
            self.ends.append(step.end)
        if step.output is not None:
            self.outputs.append(step.output)

    def statements(self) -> Iterator[tuple[str, list[Any]]]:
        """
        Yield few statements with many values each.

        Each statement releases the interpreter and must get hold of it again, which takes
        milliseconds while the crawl is busy.
        """
        yield from _many(_INSERT, self.inserts)
        yield from _many(_TURN_AWAY, self.turned_away)
        # SQLite does not define which of several values for one row counts.
        yield from _many(_WAIT_AGAIN, _last_of_each(self.again))
        yield from _many(_MOVE, _last_of_each(self.moves))
        yield from _many(_END, self.ends)
        yield from _many(_HOST, self.hosts)
        yield from _many(_ROBOTS, self.robots)
        yield from _many(_NEARER, self.nearer)

    def seen_keys(self) -> list[bytes]:
        """Return the keys of the new rows, except for those of URLs that are turned away."""
        return [row[1] for row in self.inserts]

    def __bool__(self) -> bool:
        return any(vars(self).values())


def _many(statement: str, rows: list[Values]) -> Iterator[tuple[str, list[Any]]]:
    start = 0
    for size in _sizes(len(rows)):
        chunk = rows[start : start + size]
        yield _statement(statement, size, len(rows[0])), [v for row in chunk for v in row]
        start += size


def _last_of_each(rows: list[Values]) -> list[Values]:
    return list({row[0]: row for row in rows}.values())


def _sizes(number: int) -> Iterable[int]:
    """Yield numbers that add up to *number*, of a few kinds, so that statements are prepared once."""
    for size in (256, 64, 16, 4, 1):
        yield from [size] * (number // size)
        number %= size


@cache
def _statement(statement: str, rows: int, width: int) -> str:
    values = ",".join([f"({','.join('?' * width)})"] * rows)
    return statement.format(values) if "{}" in statement else f"{statement} {values}"
