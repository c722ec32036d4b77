"""Which spiders are in the files of a directory, found without running the files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def spiders_below(directory: Path) -> list[str]:
    """
    Return the spiders in the files below *directory*, as `crawler run` names them.

    A class counts as a spider if the name of one of its base classes ends in Spider, or is that
    of a spider above it. Directories that begin with a dot are left out.
    """
    return sorted(_spiders(directory))


def _spiders(directory: Path) -> Iterator[str]:
    for path in directory.rglob("*.py"):
        if any(part.startswith(".") for part in path.relative_to(directory).parts):
            continue
        for name in _classes(path):
            yield f"{path}:{name}"


def _classes(path: Path) -> Iterator[str]:
    """Yield the names of the spiders in a file; none if it cannot be read as Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError):
        return
    known: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_is_spider(base, known) for base in node.bases):
            known.add(node.name)
            yield node.name


def _is_spider(base: ast.expr, known: set[str]) -> bool:
    name = base.attr if isinstance(base, ast.Attribute) else str(getattr(base, "id", ""))
    return name.endswith("Spider") or name in known
