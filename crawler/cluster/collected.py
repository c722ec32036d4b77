"""Collected: how far a collector has got, in the state of its job directory."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ..frontier.durable.rows import sealed
from ..job.directory import STATE

#: How many commits can be gone back.
_KEPT = 20_000
_PREFIX = "collected:"


class Position(NamedTuple):
    """
    One commit of the collector: the last *entry* of the log in it, and the *call* that wrote that.

    *outputs* and *written* are where the outputs ended, *last_row* is its last row.
    """

    number: int
    entry: str
    call: str
    last_row: int
    outputs: Mapping[str, int]
    written: Mapping[str, int]

    @property
    def fact(self) -> tuple[str, Any]:
        """Its name and value as a fact of the store; it replaces one that is too old."""
        return f"{_PREFIX}{self.number % _KEPT}", list(self)


#: Before the first commit.
START = Position(0, "0-0", "", 0, {}, {})


def last_position(fact: Callable[[str], Any]) -> Position:
    """Return how far a collector has got; *fact* returns what is stored by a name."""
    found = fact("collected")
    return START if found is None else Position(*found)


def positions(folder: Path) -> Iterator[Position]:
    """Yield the commits that can be gone back to, the newest first."""
    with closing(sqlite3.connect(folder / STATE)) as state:
        rows = state.execute("SELECT value FROM facts WHERE name LIKE ?", (f"{_PREFIX}%",))
        found = [Position(*json.loads(value)) for (value,) in rows]
    yield from sorted(found, reverse=True)


def go_back(folder: Path, to: Position) -> None:
    """
    Let the state in *folder* be what it was at *to*; no process may have it open.

    Outputs that are opened again then cut themselves back to where they ended there.
    """
    (folder / STATE).with_suffix(".keys").unlink(missing_ok=True)
    facts = {"collected": list(to), "outputs": to.outputs, "written": to.written}
    with closing(sqlite3.connect(folder / STATE, isolation_level=None)) as state:
        state.execute("PRAGMA synchronous = FULL")
        state.execute("BEGIN IMMEDIATE")
        state.execute("DELETE FROM urls WHERE id > ?", (to.last_row,))
        for position in [one for one in positions(folder) if one.number > to.number]:
            state.execute("DELETE FROM facts WHERE name = ?", (position.fact[0],))
        for name, value in facts.items():
            row = sealed(name, json.dumps(value))
            state.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", row)
        state.execute("COMMIT")


def sync(path: Path) -> None:
    """Wait until what was written to the file is on its disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
