"""The sources of settings: files, the environment, and mappings from code or the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from .table import MAPPINGS, nearest

_PREFIX = "CRAWLER_"


@dataclass(frozen=True)
class Given:
    """A value for a setting, and its source."""

    name: str
    value: Any
    source: str


def from_mapping(given: Mapping[str, Any], source: str, within: str = "") -> Iterator[Given]:
    """
    Yield the values in *given*; values in nested tables get dotted names.

    A whole value, such as a Politeness, sets each of its fields. A field that is given by its own
    name overrides it.
    """
    for name, value in sorted(given.items(), key=lambda item: not is_dataclass(item[1])):
        parts = _parts(value) if is_dataclass(value) else value
        if _is_table(f"{within}{name}", parts):
            yield from from_mapping(parts, source, f"{within}{name}.")
        else:
            yield Given(f"{within}{name}", value, source)


def _is_table(name: str, value: Any) -> bool:
    """Return whether *value* has settings by name; names in capital letters are those of Scrapy."""
    if not isinstance(value, Mapping) or name in MAPPINGS or name.isupper():
        return False
    return all(isinstance(key, str) for key in value)


def from_environ(environ: Mapping[str, str]) -> Iterator[Given]:
    """
    Yield the values of variables such as CRAWLER_DELAY and CRAWLER_POLITENESS__BACKOFF.

    An empty variable is ignored. So is one whose name does not resemble any setting, because it
    belongs to another program: Kubernetes, for example, sets such variables for a service called
    "crawler".
    """
    for variable, text in environ.items():
        name = variable.removeprefix(_PREFIX).lower().replace("__", ".")
        if variable.startswith(_PREFIX) and text.strip() and nearest(name, 0.8):
            yield Given(name, text, variable)


def from_toml(path: Path) -> Iterator[Given]:
    """Yield the values in the file; in a pyproject.toml, those in ``[tool.crawler]``."""
    yield from from_mapping(_table(path), str(path))


def find_toml(directory: Path = Path()) -> Path | None:
    """Return the file with settings in *directory*: crawler.toml, or else pyproject.toml."""
    own, shared = directory / "crawler.toml", directory / "pyproject.toml"
    if own.is_file():
        return own
    return shared if shared.is_file() and _table(shared) else None


def _table(path: Path) -> dict[str, Any]:
    table = _read(path)
    for name in ("tool", "crawler") if path.name == "pyproject.toml" else ():
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise ValueError(f"{path}: {name} must be a table, not {table!r}")
    return table


def _read(path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - needed only if there is such a file

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _parts(value: Any) -> dict[str, Any]:
    return {part.name: getattr(value, part.name) for part in fields(value)}
