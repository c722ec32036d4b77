"""The fields of items: mappings, and objects of dataclasses, attrs and pydantic classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any


def fields_of(value: object) -> Mapping[Any, Any] | None:
    """Return the fields of a mapping or of an object of one of the item classes; else None."""
    if isinstance(value, Mapping):
        return value
    kind = type(value)
    for mark, read in _KINDS.items():
        if hasattr(kind, mark):
            return read(value)
    return None


def has_fields(kind: type[Any]) -> bool:
    """Return whether *kind* is a dataclass, or an attrs or pydantic class."""
    return any(hasattr(kind, mark) for mark in _KINDS)


def _dataclass_fields(value: Any) -> Mapping[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _attrs_fields(value: Any) -> Mapping[str, Any]:
    return {field.name: getattr(value, field.name) for field in value.__attrs_attrs__}


def _pydantic_fields(value: Any) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = type(value).model_dump(value)
    return fields


#: The attribute that marks a class whose objects are items, and how their fields are read.
_KINDS: Mapping[str, Callable[[Any], Mapping[str, Any]]] = {
    "__dataclass_fields__": _dataclass_fields,
    "__attrs_attrs__": _attrs_fields,
    "model_dump": _pydantic_fields,
}
