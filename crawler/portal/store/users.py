"""Users: who may sign in, and what each may do."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import gevent
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from .database import Database

Value = TypeVar("Value")

#: Each role may do what those before it may.
ROLES = ("viewer", "operator", "admin")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_MIN_PASSWORD, _MAX_PASSWORD = 10, 200
#: After so many failures in a row a name is locked, for 1 s at first, doubling up to 15 minutes.
_FREE_FAILURES, _LONGEST_LOCK = 5, 900.0
#: An address may be that of many users: it is locked after more failures.
_FREE_OF_ADDRESS = 20


@dataclass(frozen=True)
class User:
    id: int
    name: str
    role: str

    def may(self, role: str) -> bool:
        """Return whether the user has the rights of *role*."""
        return may(self.role, role)


def may(role: str, wanted: str) -> bool:
    """Return whether *role* has the rights of the role *wanted*."""
    return ROLES.index(role) >= ROLES.index(wanted)


class Users:
    def __init__(self, database: Database, hasher: PasswordHasher | None = None) -> None:
        self._database = database
        self._hasher = hasher or PasswordHasher()
        #: Verified for unknown names, so that they take as long as known ones.
        self._nobody = self._hasher.hash("nobody has this password")

    def __len__(self) -> int:
        return len(self._database.rows("SELECT id FROM user"))

    def all(self) -> list[User]:
        return [
            User(*row)
            for row in self._database.rows("SELECT id, name, role FROM user ORDER BY name")
        ]

    def add(self, name: str, password: str, role: str, *, now: float = 0.0, who: str = "") -> User:
        """Add a user; raise ValueError, with the reason, if that cannot be."""
        if not _NAME.fullmatch(name):
            raise ValueError("a name has 1 to 64 lower-case letters, digits, '.', '-' or '_'")
        if not _MIN_PASSWORD <= len(password) <= _MAX_PASSWORD:
            raise ValueError(f"a password has {_MIN_PASSWORD} to {_MAX_PASSWORD} characters")
        if role not in ROLES:
            raise ValueError(f"a role is one of {', '.join(ROLES)}")
        hashed = _in_a_thread(self._hasher.hash, password)
        if self._database.row("SELECT 1 FROM user WHERE name = ?", name):
            raise ValueError(f"there is a user {name!r} already")
        query = "INSERT INTO user (name, hash, role) VALUES (?, ?, ?)"
        with self._database.transaction():
            self._database.audit(now, who, f"added the {role} {name}")
            return User(self._database.change(query, name, hashed, role), name, role)

    def remove(self, user: int, *, now: float = 0.0, who: str = "") -> None:
        """Remove a user; the last admin stays."""
        admins = [one.id for one in self.all() if one.role == "admin"]
        if admins == [user]:
            raise ValueError("the last admin cannot be removed")
        with self._database.transaction():
            self._database.audit(now, who, f"removed user {user}")
            self._database.change("DELETE FROM user WHERE id = ?", user)

    def check(self, name: str, password: str, now: float, address: str = "") -> User | None:
        """
        Return the user; None if the name or the password is wrong, or the name or *address* locked.
        """
        row = self._database.row("SELECT * FROM user WHERE name = ?", name)
        hashed = self._nobody if row is None else row["hash"]
        is_right = _in_a_thread(self._is_of, hashed, password[:_MAX_PASSWORD])
        if self._is_locked(address, now) or (row is not None and row["locked_until"] > now):
            return None
        if row is None or not is_right:
            self._count_failure(row, address, now)
            return None
        self._database.change("UPDATE user SET failures = 0 WHERE id = ?", row["id"])
        self._database.change("DELETE FROM guess WHERE address = ?", address)
        return User(row["id"], row["name"], row["role"])

    def _is_of(self, hashed: str, password: str) -> bool:
        try:
            return bool(self._hasher.verify(hashed, password))
        except VerificationError:
            return False

    def _is_locked(self, address: str, now: float) -> bool:
        query = "SELECT 1 FROM guess WHERE address = ? AND locked_until > ?"
        return self._database.row(query, address, now) is not None

    def _count_failure(self, user: sqlite3.Row | None, address: str, now: float) -> None:
        """Count a failure of a name, if there is such a user, and of an address."""
        if user is not None:
            failures = user["failures"] + 1
            query = "UPDATE user SET failures = ?, locked_until = ? WHERE id = ?"
            until = now + _lock(failures - _FREE_FAILURES)
            self._database.change(query, failures, until, user["id"])
        row = self._database.row("SELECT failures FROM guess WHERE address = ?", address)
        failures = (row["failures"] if row else 0) + 1
        values = (address, failures, now + _lock(failures - _FREE_OF_ADDRESS))
        self._database.change("DELETE FROM guess WHERE locked_until < ?", now - 86400)
        self._database.change("INSERT OR REPLACE INTO guess VALUES (?, ?, ?)", *values)


def _lock(failures: int) -> float:
    """Return the seconds of a lock after so many *failures* more than are free."""
    return min(2.0 ** min(failures, 10), _LONGEST_LOCK) if failures >= 0 else 0.0


def _in_a_thread(function: Callable[..., Value], *arguments: object) -> Value:
    """Call *function* beside the hub: a hash takes long on purpose."""
    value: Value = gevent.get_hub().threadpool.apply(function, arguments)
    return value
