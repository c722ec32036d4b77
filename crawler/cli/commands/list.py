"""``crawler list``: the spiders in the files of a directory."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import click

from ..options import json_option, verbose_option
from ..text import printable


@click.command()
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@json_option
@verbose_option
def list(directory: str, as_json: bool) -> None:  # noqa: A001 - the name of the command
    """List the spiders in the files of a directory and below it, as `crawler run` names them.

    The files are read, not run: a class counts as a spider if the name of one of its base classes
    ends in Spider, or is that of a spider above it. Directories that begin with a dot are left out.

    Example: crawler list spiders/
    """
    found = sorted(_spiders(Path(directory)))
    for place in found:
        click.echo(json.dumps({"spider": place}) if as_json else printable(place))
    if not found:
        click.echo(
            f"crawler: no spiders below {directory!r}; `crawler new spider` makes one", err=True
        )


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
