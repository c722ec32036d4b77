"""
The types of settings.

Each type parses text, checks values from code or TOML, and writes a value as text that it can parse
again. Its ValueError says only what was expected; the caller adds the name of the setting.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..credentials import hide_passwords

_NUMBER = re.compile(
    r"(?P<amount>[-+]?(?:[0-9]{1,20}(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]{1,2})?)"
    r"\s*(?P<unit>[a-z]*)"
)
#: A comma within brackets is not a separator, for patterns such as ``[0-9]{1,3}``.
_SEPARATOR = re.compile(r"\s+|,(?![^{(\[]*[})\]])")
_SWITCH = dict.fromkeys(("yes", "true", "on", "1"), True) | dict.fromkeys(
    ("no", "false", "off", "0"), False
)
_TIMES = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_BINARY = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12} | {
    unit.lower(): size for unit, size in _BINARY.items()
}


@dataclass(frozen=True, eq=False)
class Kind(ABC):
    """The type of a setting: *name* is for tables, *expected* for error messages."""

    name: str
    expected: str

    def value(self, given: object) -> Any:
        """Return *given* converted to this type; raise ValueError with what was expected."""
        return self._read(given.strip()) if isinstance(given, str) else self._take(given)

    def write(self, value: Any) -> str:
        return str(value)

    @abstractmethod
    def _read(self, text: str) -> Any: ...

    @abstractmethod
    def _take(self, given: object) -> Any: ...

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Number(Kind):
    """A number within limits; they also exclude infinity, NaN and values too large for C libraries."""

    whole: bool = False
    units: Mapping[str, float] = field(default_factory=lambda: {"": 1})
    at_least: float = 0
    at_most: float = 2**31 - 1

    def _read(self, text: str) -> Any:
        match = _NUMBER.fullmatch(text.lower())
        if match is None or match["unit"] not in self.units:
            raise ValueError(self.expected)
        amount, unit = match["amount"], match["unit"]
        number = int(amount) if amount.isdigit() else float(amount)
        number *= self.units[unit]
        return self._take(round(number) if self.whole and unit else number)

    def _take(self, given: object) -> Any:
        if not isinstance(given, int | float) or isinstance(given, bool):
            raise ValueError(self.expected)
        if not given >= self.at_least:
            raise ValueError(f"{self.expected}, {self.at_least} or more")
        if given > self.at_most:
            raise ValueError(f"{self.expected}, {self.at_most} at most")
        if self.whole and given % 1:
            raise ValueError(self.expected)
        return int(given) if self.whole else float(given)

    def write(self, value: Any) -> str:
        return str(int(value) if value % 1 == 0 else value)


class Size(Number):
    def write(self, value: Any) -> str:
        for unit, size in reversed(_BINARY.items()):
            if value and value % size == 0:
                return f"{value // size:.0f}{unit}"
        return super().write(value)


class Switch(Kind):
    def _read(self, text: str) -> bool:
        try:
            return _SWITCH[text.lower()]
        except KeyError:
            raise ValueError(self.expected) from None

    def _take(self, given: object) -> bool:
        if not isinstance(given, bool):
            raise ValueError(self.expected)
        return given

    def write(self, value: bool) -> str:
        return "yes" if value else "no"


@dataclass(frozen=True, eq=False)
class Text(Kind):
    """Text that fully matches *pattern*."""

    pattern: str = r"(?s:.+)"

    def _read(self, text: str) -> str:
        if not re.fullmatch(self.pattern, text):
            raise ValueError(self.expected)
        return text

    def _take(self, _given: object) -> str:
        raise ValueError(self.expected)


class File(Kind):
    def _read(self, text: str) -> Path:
        return self._take(Path(text))

    def _take(self, given: object) -> Path:
        # Unlike Path.is_file(), this returns False for invalid names too.
        if not isinstance(given, os.PathLike) or not os.path.isfile(given):  # noqa: PTH113
            raise ValueError(self.expected)
        return Path(given)


@dataclass(frozen=True, eq=False)
class Listed(Kind):
    """A list of values of one type; as text separated by commas or blanks, "none" if empty."""

    of: Kind
    make: Callable[[Iterable[Any]], tuple[Any, ...] | frozenset[Any]] = tuple

    def _read(self, text: str) -> Any:
        return self._take([] if text.lower() == "none" else filter(None, _SEPARATOR.split(text)))

    def _take(self, given: object) -> Any:
        if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
            raise ValueError(self.expected)
        return self.make(self.of.value(entry) for entry in given)

    def write(self, value: Any) -> str:
        entries = [self.of.write(entry) for entry in value]
        return ",".join(entries if self.make is tuple else sorted(entries)) or "none"


class HeaderFields(Listed):
    """Header fields as "NAME: VALUE", from a mapping too; as text one in each line."""

    def _read(self, text: str) -> Any:
        lines = [] if text.lower() == "none" else map(str.strip, text.split("\n"))
        return self._take(filter(None, lines))

    def _take(self, given: object) -> Any:
        if isinstance(given, Mapping):
            given = [f"{name}: {value}" for name, value in given.items()]
        return super()._take(given)

    def write(self, value: Any) -> str:
        return "\n".join(value) or "none"


class Proxy(Text):
    def write(self, value: str) -> str:
        return hide_passwords(value)


@dataclass(frozen=True, eq=False)
class OrNone(Kind):
    """A value of type *kind*, or None, which is "none" as text."""

    kind: Kind

    def _read(self, text: str) -> Any:
        return self._take(None if text.lower() == "none" else text)

    def _take(self, given: object) -> Any:
        try:
            return None if given is None else self.kind.value(given)
        except ValueError as error:
            raise ValueError(f"{error}, or none") from None

    def write(self, value: Any) -> str:
        return "none" if value is None else self.kind.write(value)


def or_none(kind: Kind) -> Kind:
    return OrNone(f"{kind.name} or none", f"{kind.expected}, or none", kind)


def one_of(*choices: str) -> Kind:
    name = f"{', '.join(choices[:-1])} or {choices[-1]}"
    return Text(name, name, "|".join(choices))


COUNT = Number("whole number", "a whole number", whole=True, at_least=1)
LEVEL = Number("whole number", "a whole number", whole=True)
NUMBER = Number("number", "a number")
SECONDS = Number("seconds", "seconds (a number, or such as 500ms, 2m, 1h)", units=_TIMES)
SOME_SECONDS = replace(SECONDS, at_least=0.001)
BYTES = Size(
    "bytes",
    "bytes (a number, or such as 500kB, 10MB, 1GiB)",
    whole=True,
    units=_SIZES,
    at_least=1,
    at_most=2**63 - 1,
)
RATE = Size(
    "bytes a second",
    "bytes a second (a number, or such as 500kB, 1MiB)",
    units=_SIZES,
    at_least=1,
    at_most=2**63 - 1,
)
SWITCH = Switch("yes or no", "yes or no (or true, false, on, off, 1, 0)")
TEXT = Text("text", "text")
HEADER = Text("text", "one line of ASCII text", r"[ -~]+")
CONTACT = Text("text", "a mail address or a URL", r"[!-'*-~]+@[!-'*-~]+|https?://[!-'*-~]+")
HEADERS = HeaderFields("header fields", "a mapping or a list of header fields", HEADER)
PROXY = Proxy(
    "URL",
    "the URL of a proxy, such as http://host:port",
    r"(?i:https?|socks4a?|socks5h?)://([!-.0-?A-~]*@)?[!-.0-?A-~]+/?",
)
SERVER = Proxy("URL", "the URL of a server")
FILE = File("file", "the path of a file")
STATUS = Number("status", "a status code", whole=True, at_least=100, at_most=599)
LIST = Listed("list", "a list", TEXT)
_PLACES = "a list of MODULE:NAME (classes and functions go into the list pipelines of the spider)"
PIPELINES = Listed("list", _PLACES, Text("text", _PLACES))
TEXTS = Listed("set", "a list", TEXT, frozenset)
STATUSES = Listed("set of status codes", "a list of status codes", STATUS, frozenset)
