"""The kinds of sites that are crawled, in this process and as the argument of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

from .docs import Docs
from .shape import Shape
from .web_shape import WebShape

Generated: TypeAlias = "Shape | WebShape"
Site: TypeAlias = "Shape | WebShape | Docs"

_KINDS: dict[str, type[Shape | WebShape]] = {"plain": Shape, "web": WebShape}


def as_argument(shape: Generated) -> dict[str, Any]:
    kind = next(kind for kind, its_type in _KINDS.items() if type(shape) is its_type)
    return {"kind": kind, **asdict(shape)}


def from_argument(argument: Mapping[str, Any]) -> Generated:
    fields = dict(argument)
    return _KINDS[fields.pop("kind")](**fields)
