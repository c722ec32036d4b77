"""Descriptions of settings, and explanations of their values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..credentials import hide_passwords
from .sources import Given
from .value_types import Kind


@dataclass(frozen=True)
class Described:
    """A setting with its default and its help."""

    name: str
    type: Kind
    default: Any
    help: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": str(self.type),
            "default": _plain(self.default),
            "help": self.help,
        }


@dataclass(frozen=True)
class Explained:
    """The value of a setting and its source; *overridden* has the other values, the strongest first."""

    name: str
    type: Kind
    value: Any
    source: str
    overridden: tuple[Given, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": str(self.type),
            "value": _plain(self.value),
            "source": self.source,
            "overridden": [
                {"value": _plain(given.value), "source": given.source} for given in self.overridden
            ],
        }

    def __str__(self) -> str:
        over = [f"{self.type.write(given.value)} ({given.source})" for given in self.overridden]
        rest = f", over {', '.join(over)}" if over else ""
        return f"{self.name} = {self.type.write(self.value)} ({self.source}){rest}"


def _plain(value: Any) -> Any:
    """Return *value* as a type that JSON has."""
    if isinstance(value, tuple | frozenset):
        return list(value) if isinstance(value, tuple) else sorted(value)
    if isinstance(value, str):
        return hide_passwords(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else value
