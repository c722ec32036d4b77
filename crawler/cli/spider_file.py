"""How a command loads the user's spider."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import pairs
from .standard_streams import prints_to_stderr

if TYPE_CHECKING:
    from ..spider import Spider


def load_spider(place: str, arguments: Iterable[str] = ()) -> Spider:
    """Return the spider in a file; FILE.py:Name selects one of several."""
    name, _, wanted = place.partition(":")
    path = Path(name)
    if not path.is_file():
        raise click.UsageError(f"no such file: {name!r}")
    with prints_to_stderr():
        kinds = {kind.__name__: kind for kind in _spiders_in(path)}
    if wanted:
        kinds = {known: kind for known, kind in kinds.items() if known == wanted}
    if len(kinds) != 1:
        found = " or ".join(f"{name}:{known}" for known in kinds) or "none"
        raise click.UsageError(f"{place} must name one Spider; found: {found}")
    with prints_to_stderr():
        return next(iter(kinds.values()))(**pairs(arguments, "-a"))


def program_of(spider: Spider) -> str:
    """Return the file and the class of *spider*, as `crawler run` takes them."""
    kind = type(spider)
    return f"{kind.__module__}.py:{kind.__qualname__}"


def _spiders_in(path: Path) -> list[type[Spider]]:
    from ..spider import Spider

    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Spider) and value.__module__ == path.stem
    ]
