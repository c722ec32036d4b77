"""ItemIds: ids that are the same for an item in every crawl."""

from __future__ import annotations

import copy
import datetime as dt
import hashlib
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from ...data import Response
from .per_spider import PerSpider

#: Types whose repr() is the same in every process, and different for different values.
_PLAIN = (
    type(None),
    bool,
    int,
    float,
    bytes,
    Decimal,
    UUID,
    dt.date,
    dt.datetime,
    dt.time,
    dt.timedelta,
)


class _Fields(NamedTuple):
    target: str
    hashed: tuple[str, ...]


class ItemIds(PerSpider[_Fields]):
    """
    Sets the field *id_field* of every item to a hash of some other fields.

    By default the names of the fields are the spider's ``id_field`` and ``id_fields_to_hash``.
    The id is 32 hexadecimal digits. It depends on the names, types and values of the fields,
    not on their order: 1, "1", 1.0 and True give four ids. An item that lacks one of the fields
    would share its id with others, so it is dropped and reported as an error; so is an item
    with a value that has no form that is the same in every process.
    """

    def __init__(
        self, id_field: str | None = None, fields_to_hash: Collection[str] | None = None
    ) -> None:
        super().__init__()
        self._id_field = id_field
        self._fields_to_hash = fields_to_hash

    def make(self, spider: Any) -> _Fields:
        target = self.configured(self._id_field, "id_field", spider)
        hashed = self.configured(self._fields_to_hash, "id_fields_to_hash", spider)
        if isinstance(hashed, str) or not hashed:
            raise ValueError(f"id_fields_to_hash must be a list of names, not {hashed!r}")
        if target in hashed:
            raise ValueError(f"id_fields_to_hash: the id {target!r} cannot be made of itself")
        return _Fields(target, tuple(hashed))

    def process_item(self, item: Any, response: Response | None, spider: Any) -> Any:
        fields = self.of(spider)
        return _with(item, fields.target, stable_hash({n: _field(item, n) for n in fields.hashed}))


def stable_hash(value: Any) -> str:
    """Return 32 hexadecimal digits that are the same for *value* in every process."""
    return hashlib.blake2b(_typed(value), digest_size=16).hexdigest()


def _typed(value: Any) -> bytes:
    """Return *value* as bytes, with type and length first, so that no two values look the same."""
    if isinstance(value, Mapping):
        pairs = sorted(_typed(name) + _typed(held) for name, held in value.items())
        return _sized("mapping", pairs)
    if isinstance(value, list | tuple):
        return _sized("list", map(_typed, value))
    if isinstance(value, str):
        return _sized("str", [value.encode("utf-8", "surrogatepass")])
    if type(value) in _PLAIN:
        return _sized(type(value).__name__, [repr(value).encode()])
    raise ValueError(f"no id can be made of {value!r:.200}: {type(value).__name__} has no one form")


def _sized(kind: str, parts: Iterable[bytes]) -> bytes:
    body = b"".join(parts)
    return f"{kind} {len(body)} ".encode() + body


def _field(item: Any, name: str) -> Any:
    try:
        return item[name] if isinstance(item, Mapping) else getattr(item, name)
    except (KeyError, AttributeError):
        raise ValueError(f"the item has no field {name!r} to make its id of") from None


def _with(item: Any, name: str, value: str) -> Any:
    """Return a copy of *item* with one field set; the copy may be changed even if it is frozen."""
    changed = copy.copy(item)
    if isinstance(item, Mapping):
        changed[name] = value
    elif hasattr(item, name):
        object.__setattr__(changed, name, value)
    else:
        raise ValueError(f"the item has no field {name!r} for its id")
    return changed
