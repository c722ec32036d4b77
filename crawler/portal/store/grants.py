"""Grants: which projects a user may see and use; an admin may all."""

from __future__ import annotations

import json
from typing import TypeAlias

from .database import Database
from .users import User

#: The names and the numbers of projects that a user may not see.
Hidden: TypeAlias = frozenset[str | int]
NOTHING_HIDDEN: Hidden = frozenset()


class Grants:
    def __init__(self, database: Database) -> None:
        self._database = database

    def hidden(self, user: User) -> Hidden:
        """Return the projects that are for others only."""
        if user.may("admin"):
            return NOTHING_HIDDEN
        rows = self._database.rows("SELECT id, name, grants FROM project WHERE grants != '[]'")
        others = [row for row in rows if user.name not in json.loads(row["grants"])]
        return frozenset(key for row in others for key in (row["id"], row["name"]))


def without(hidden: Hidden) -> tuple[str, list[str]]:
    """Return the rest of a condition that leaves out tasks or runs of *hidden*, and its values."""
    names = sorted(f"{name}@" for name in hidden if isinstance(name, str))
    if not names:
        return "", []
    source = "coalesce(json_extract(spec, '$.source'), '')"
    marks = ", ".join("?" * len(names))
    return f" AND substr({source}, 1, instr({source}, '@')) NOT IN ({marks})", names
