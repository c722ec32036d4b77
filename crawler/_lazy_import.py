"""Names that a package imports at first use: most programs need few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, places: Mapping[str, str], instead: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """
    Return the ``__getattr__`` of *package*.

    *places* maps each name to the module it is in, *instead* names that people look for in vain to
    what to write instead.
    """

    def import_name(name: str) -> Any:
        place = places.get(name)
        if place is None:
            remedy = (instead or {}).get(name)
            hint = f": write {remedy}" if remedy else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        found = getattr(import_module(f".{place}", package), name)
        setattr(sys.modules[package], name, found)
        return found

    return import_name
