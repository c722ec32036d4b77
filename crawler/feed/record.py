"""
From the item that a user yields to the record that a file can hold.

as_record() takes mappings and dataclass, attrs and pydantic objects, which may be nested, and
turns their values into those that JSON has:

=========================  =======================================================
text                       itself; a lone surrogate, which UTF-8 lacks, is U+FFFD
NaN, infinity              null
datetime, date, time       ISO 8601
timedelta                  seconds
Decimal, UUID, Path, IP    their text
Enum                       its value
bytes                      base64
set                        a list, sorted
a key that is not text     its JSON text
anything else              TypeError: a printed object is not data
=========================  =======================================================

A table (CSV, SQLite, Parquet) has cells, which cell() makes: lists and objects become JSON
text, and so do integers beyond 64 bits. A record without fields adds no row to a table.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePath
from typing import Any, TypeAlias
from uuid import UUID

from ..item_fields import fields_of

Cell: TypeAlias = "str | int | float | bool | None"

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
#: Unescaped, these end a line for some readers, and are commands for some terminals.
_CONTROLS = re.compile("[\x80-\x9f\u2028\u2029]")
_INT64 = range(-(2**63), 2**63)


def as_record(value: object) -> dict[str, Any]:
    """Return the fields of *value* as JSON values; an error names the field that has none."""
    fields = fields_of(value)
    if fields is None:
        raise TypeError(
            f"a record is a mapping or a dataclass, attrs or pydantic object, not {value!r:.200}"
        )
    record = {}
    for name, field in fields.items():
        try:
            record[_key(name)] = plain(field)
        except TypeError as error:
            raise TypeError(f"field {name!r:.200}: {error}") from None
    return _complete(record, fields)


def to_json(value: object) -> str:
    """Return a JSON value as one line that every terminal can show."""
    text = _encode(value)
    if text.isascii():
        return text
    return _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)


def cell(value: Any) -> Cell:
    """Return a *value* of a record as the cell of a table."""
    kind = type(value)
    if kind is dict or kind is list:
        return to_json(value)
    if kind is int and value not in _INT64:
        return str(value)
    return value  # type: ignore[no-any-return]


def weight(row: Mapping[str, Cell]) -> int:
    """Return the number of characters in *row*: about its size in bytes."""
    return sum([len(value) for value in row.values() if type(value) is str])


def plain(value: Any) -> Any:
    """Return *value* as a JSON value."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _text(value)
    if kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is dict:
        return _object(value)
    if kind is list:
        return [plain(element) for element in value]
    return _unusual(value)


def _unusual(value: Any) -> Any:
    match value:
        case Enum():
            return plain(value.value)
        case str():
            return _text(str.__str__(value))
        case int():
            return int(value)
        case float():
            return plain(float(value))
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal() | UUID() | PurePath() | IPv4Address() | IPv6Address():
            return _text(str(value))
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
        case AbstractSet():
            return sorted(map(plain, value), key=to_json)
        case Sequence():
            return [plain(element) for element in value]
    fields = fields_of(value)
    if fields is None:
        raise TypeError(f"{_described(value)} is not something a feed can write")
    return _object(fields)


def _described(value: object) -> str:
    kind = type(value)
    return f"{value!r:.80} ({kind.__module__}.{kind.__qualname__})"


def _object(fields: Mapping[Any, Any]) -> dict[str, Any]:
    return _complete({_key(name): plain(field) for name, field in fields.items()}, fields)


def _complete(record: dict[str, Any], fields: Mapping[Any, Any]) -> dict[str, Any]:
    if len(record) == len(fields):
        return record
    raise ValueError(f"two fields have the same name: {list(fields)!r:.200}")


def _key(name: Any) -> str:
    if type(name) is str and name.isascii():
        return name
    key = plain(name)
    return key if isinstance(key, str) else to_json(key)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # A pair of surrogates becomes the character that it encodes.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
