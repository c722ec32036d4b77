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
    #: The name of the project that it is about; "" if it is about none.
    project: str = ""


_SELECT = "SELECT id, subject, text, since, project FROM alarm"


class Alarms:
    kind = "alarm"

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> list[Alarm]:
        rows = self._database.rows(f"{_SELECT} WHERE seen_by IS NULL ORDER BY id DESC")
        return [Alarm(*row) for row in rows]

    def find(self, alarm: int) -> Alarm | None:
        row = self._database.row(f"{_SELECT} WHERE id = ?", alarm)
        return None if row is None else Alarm(*row)

    def add(self, subject: str, text: str, now: float, project: str = "") -> None:
        """Raise an alarm; the same one is raised once."""
        query = "INSERT OR IGNORE INTO alarm (subject, text, since, project) VALUES (?, ?, ?, ?)"
        self._database.change(query, subject, text, now, project)

    def unsent(self) -> list[Alarm]:
        """Return the alarms that nobody has seen, and that were sent to nobody."""
        rows = self._database.rows(f"{_SELECT} WHERE seen_by IS NULL AND NOT is_sent ORDER BY id")
        return [Alarm(*row) for row in rows]

    def set_sent(self, alarm: int) -> None:
        self._database.change("UPDATE alarm SET is_sent = 1 WHERE id = ?", alarm)

    def see(self, alarm: int, *, who: str, now: float) -> None:
        with self._database.transaction():
            query = "UPDATE alarm SET seen_by = ? WHERE id = ? AND seen_by IS NULL"
            if self._database.update(query, who, alarm):
                self._database.audit(now, who, f"has seen alarm {alarm}")
