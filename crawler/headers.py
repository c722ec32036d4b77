"""The header fields of a request or a response."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn

_FIELD = re.compile(r"^([^:\s]+)[ \t]*:[ \t]*([^\r\n]*[^\s]|)", re.MULTILINE)

_TO_CHANGE = "give headers= to the new request, or write request.replace(headers={…})"
#: Methods of Scrapy's header fields, and what to use instead.
_OF_SCRAPY = {
    "appendlist": _TO_CHANGE,
    "getlist": "all(name) returns every value of a field, as text",
    "pop": _TO_CHANGE,
    "setdefault": _TO_CHANGE,
    "setlist": _TO_CHANGE,
    "to_unicode_dict": "the names and values are text: dict(headers)",
    "update": _TO_CHANGE,
}


class Headers(Mapping[str, str]):
    """
    Header fields in their order; names are compared case-insensitively.

    A field that occurs several times reads as one value joined by ", ", as HTTP defines it;
    all() returns the single values.
    """

    __slots__ = ("_fields", "_index")

    def __init__(self, fields: Mapping[str, str] | Iterable[tuple[str, str]] | bytes = ()) -> None:
        """Take pairs, or the bytes of a message head, which are parsed at the first access."""
        if not isinstance(fields, bytes):
            fields = tuple(fields.items() if isinstance(fields, Mapping) else fields)
        self._fields: tuple[tuple[str, str], ...] | bytes = fields
        self._index: dict[str, list[str]] | None = None

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        if isinstance(self._fields, bytes):
            self._fields = tuple(_FIELD.findall(self._fields.decode("latin-1")))
        return self._fields

    def all(self, name: str) -> list[str]:
        """Return every value of *name*, in order."""
        return list(self._by_name().get(name.lower(), ()))

    def __getitem__(self, name: str) -> str:
        return ", ".join(self._by_name()[name.lower()])

    def __setitem__(self, name: str, _value: object) -> NoReturn:
        raise TypeError(
            "header fields cannot be changed: give headers= to the new request, or write "
            f"request.replace(headers={{**request.headers, {name!r}: …}})"
        )

    def __getattr__(self, name: str) -> NoReturn:
        """Explain what is used instead of the methods that Scrapy's fields have."""
        instead = f"; {_OF_SCRAPY[name]}" if name in _OF_SCRAPY else ""
        raise AttributeError(f"'Headers' object has no attribute {name!r}{instead}")

    def __iter__(self) -> Iterator[str]:
        names: dict[str, str] = {}
        for name, _ in self.fields:
            names.setdefault(name.lower(), name)
        return iter(names.values())

    def __len__(self) -> int:
        return len(self._by_name())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Headers):
            return self._by_name() == other._by_name()
        return NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._by_name()))

    def __repr__(self) -> str:
        return f"Headers({list(self.fields)!r})"

    def _by_name(self) -> dict[str, list[str]]:
        if self._index is None:
            self._index = {}
            for name, value in self.fields:
                self._index.setdefault(name.lower(), []).append(value)
        return self._index
