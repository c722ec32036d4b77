"""Tokens: how programs sign in."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from .database import Database
from .users import User

#: What a token may do, each scope more than those before it, and the role that its user needs.
SCOPES = {
    "metrics": "viewer",
    "read": "viewer",
    "run": "operator",
    "edit": "operator",
    "admin": "admin",
}
#: How many days a token may be valid at most.
MOST_DAYS = 366
_PREFIX = "crawler_"


@dataclass(frozen=True)
class Token:
    id: int
    name: str
    user: str
    scope: str
    expires: float
    used: float | None


class Tokens:
    """A token has 256 random bits and is shown once; only its hash is stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, user: User, name: str, scope: str, *, days: int, now: float) -> str:
        """Return a new token of *user*; raise ValueError, with the reason, if that cannot be."""
        if not name.strip() or len(name) > 64:
            raise ValueError("a token needs a name of at most 64 characters")
        if scope not in SCOPES or not user.may(SCOPES[scope]):
            raise ValueError(f"your role does not allow tokens of the scope {scope!r}")
        if not 1 <= days <= MOST_DAYS:
            raise ValueError(f"a token is valid for 1 to {MOST_DAYS} days")
        token = _PREFIX + secrets.token_urlsafe(32)
        with self._database.transaction():
            self._database.change(
                "INSERT INTO token (hash, name, user, scope, expires) VALUES (?, ?, ?, ?, ?)",
                *(_hash(token), name.strip(), user.id, scope, now + days * 86400),
            )
            self._database.audit(now, user.name, f"added the token {name.strip()!r}: {scope}")
        return token

    def find(self, token: str, now: float) -> tuple[User, str] | None:
        """Return the user of *token* and its scope; None if it is unknown or too old."""
        row = self._database.row(
            "SELECT token.id, scope, expires, used, user, user.name, role FROM token"
            " JOIN user ON user.id = user WHERE token.hash = ?",
            _hash(token),
        )
        if row is None or row["expires"] < now:
            return None
        if now > (row["used"] or 0.0) + 60:
            self._database.touch("UPDATE token SET used = ? WHERE id = ?", now, row["id"])
        return User(row["user"], row["name"], row["role"]), row["scope"]

    def all(self) -> list[Token]:
        query = (
            "SELECT token.id, token.name, user.name, scope, expires, used FROM token"
            " JOIN user ON user.id = user ORDER BY token.id"
        )
        return [Token(*row) for row in self._database.rows(query)]

    def remove(self, token: int, *, who: User, now: float) -> None:
        """Remove a token; users may remove their own, admins all of them."""
        with self._database.transaction():
            query = "DELETE FROM token WHERE id = ? AND (user = ? OR ?)"
            if self._database.update(query, token, who.id, who.may("admin")):
                self._database.audit(now, who.name, f"removed token {token}")


def covers(scope: str, wanted: str) -> bool:
    """Return whether a token of *scope* may do what needs the scope *wanted*."""
    order = list(SCOPES)
    return order.index(scope) >= order.index(wanted)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
