"""RecentRecords: the last items of a crawl, in short."""

from __future__ import annotations

from collections import deque
from itertools import islice
from reprlib import Repr
from typing import Any, TypeVar

from ..item_fields import fields_of

#: The number of items that are kept, and of fields of each that are shown.
_MOST, _FIELDS = 20, 8

Value = TypeVar("Value")

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = 120
_short.maxlevel = 3


class RecentRecords:
    """A processor for a Pipeline that keeps the last few items and passes them on."""

    def __init__(self) -> None:
        self.number = 0
        self._last: deque[Any] = deque(maxlen=_MOST)

    def __call__(self, value: Value) -> Value:
        self.number += 1
        self._last.append(value)
        return value

    def shown(self) -> list[list[tuple[str, str]]]:
        """Return names and values of the first fields of each item, the last item first."""
        return [_fields(value) for value in reversed(self._last)]


def _fields(value: object) -> list[tuple[str, str]]:
    fields = islice((fields_of(value) or {}).items(), _FIELDS)
    return [(str(name)[:60], _text(content)) for name, content in fields]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content if len(content) <= 120 else f"{content[:120]}…"
    try:
        return _short.repr(content)
    except Exception:  # the __repr__ of an item's value may raise anything
        return f"<{type(content).__name__}>"
