"""Alarms: what somebody should look at, until somebody has."""

from __future__ import annotations

from dataclasses import dataclass

from .database import Database


@dataclass(frozen=True)
class Alarm:
    id: int
    subject: str
    text: str
    since: float


class Alarms:
    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> list[Alarm]:
        query = "SELECT id, subject, text, since FROM alarm WHERE seen_by IS NULL ORDER BY id DESC"
        return [Alarm(*row) for row in self._database.rows(query)]

    def add(self, subject: str, text: str, now: float) -> None:
        """Raise an alarm; the same one is raised once."""
        query = "INSERT OR IGNORE INTO alarm (subject, text, since) VALUES (?, ?, ?)"
        self._database.change(query, subject, text, now)

    def see(self, alarm: int, *, who: str, now: float) -> None:
        with self._database.transaction():
            query = "UPDATE alarm SET seen_by = ? WHERE id = ? AND seen_by IS NULL"
            if self._database.update(query, who, alarm):
                self._database.audit(now, who, f"has seen alarm {alarm}")
