"""RecentNumbers: a number for each of many names, of which only the latest are kept."""

from __future__ import annotations

from collections.abc import Hashable


class RecentNumbers:
    """
    Numbers by name, for at most *most* names: the least recently used are forgotten.

    Names are in two dicts, and move to the younger dict when used. When that holds half of
    *most*, it becomes the older dict, and the names in the previous older dict are dropped.
    Only the hash of a name is kept, which Python seeds anew in each process.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, name: Hashable) -> int | None:
        """Return the number of *name*; None if it has none, or that is forgotten."""
        key = hash(name)
        number = self._young.get(key)
        return self._old.get(key) if number is None else number

    def add(self, name: Hashable) -> int:
        """Count *name* once more; return its count."""
        key = hash(name)
        count = self._moved(key, 0) + 1
        self._young[key] = count
        return count

    def least(self, name: Hashable, number: int) -> int:
        """Return the smallest *number* given for *name* so far."""
        key = hash(name)
        least = min(self._moved(key, number), number)
        self._young[key] = least
        return least

    def _moved(self, key: int, default: int) -> int:
        """Return the number of *key*, which has its place in the younger dict from now on."""
        number = self._young.get(key)
        if number is not None:
            return number
        number = self._old.pop(key, default)
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        return number

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
