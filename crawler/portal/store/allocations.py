"""Allocations: which agents work for a run. Nothing allocates any yet."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from .database import Database


@dataclass(frozen=True)
class Allocation:
    """The *agent*, by its name, has been in a *state* for a *run* since *at*."""

    run: int
    agent: str
    state: str
    at: float


class Allocations:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of_run(self, run: int) -> list[Allocation]:
        query = "SELECT run, agent, state, at FROM allocation WHERE run = ? ORDER BY agent"
        return [Allocation(*row) for row in self._database.rows(query, run)]

    def note(self, allocation: Allocation) -> None:
        """Keep an allocation, instead of the one of the same run and agent if there is one."""
        query = "INSERT OR REPLACE INTO allocation (run, agent, state, at) VALUES (?, ?, ?, ?)"
        self._database.change(query, *astuple(allocation))
