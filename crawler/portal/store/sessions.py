"""Sessions: which browser belongs to which user."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from .database import Database
from .users import User

#: Seconds that a session lasts without a request, and in all.
_IDLE, _LONGEST = 12 * 3600.0, 7 * 86400.0


@dataclass(frozen=True)
class Session:
    user: User
    #: What every form must send back.
    csrf: str


class Sessions:
    """A cookie has 256 random bits; only its hash is stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, user: User, now: float) -> str:
        """Return the cookie of a new session."""
        cookie = secrets.token_urlsafe(32)
        self._database.change(
            "DELETE FROM session WHERE begun < ? OR seen < ?", now - _LONGEST, now - _IDLE
        )
        self._database.change(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?)",
            *(_hash(cookie), user.id, secrets.token_urlsafe(32), now, now),
        )
        return cookie

    def find(self, cookie: str, now: float) -> Session | None:
        row = self._database.row(
            "SELECT csrf, seen, begun, user.id, name, role FROM session JOIN user ON user.id = user"
            " WHERE session.hash = ?",
            _hash(cookie),
        )
        if row is None or now > min(row["seen"] + _IDLE, row["begun"] + _LONGEST):
            return None
        if now > row["seen"] + 60:
            self._database.touch("UPDATE session SET seen = ? WHERE hash = ?", now, _hash(cookie))
        return Session(User(row["id"], row["name"], row["role"]), row["csrf"])

    def of_user(self, user: User) -> list[tuple[float, float]]:
        """Return when each session of *user* began, and when it was seen last."""
        query = "SELECT begun, seen FROM session WHERE user = ? ORDER BY seen DESC"
        return [(row["begun"], row["seen"]) for row in self._database.rows(query, user.id)]

    def close_others(self, user: User, cookie: str, now: float) -> None:
        """End all sessions of *user* but the one of *cookie*."""
        query = "DELETE FROM session WHERE user = ? AND hash != ?"
        with self._database.transaction():
            self._database.change(query, user.id, _hash(cookie))
            self._database.audit(now, user.name, "ended their sessions in other browsers")

    def close(self, cookie: str) -> None:
        self._database.change("DELETE FROM session WHERE hash = ?", _hash(cookie))


def _hash(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode()).digest()
