"""open_feed(): the feed for the format of a file name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .csv_feed import Csv
from .jsonl import JsonLines
from .jsonl_gzip import JsonLinesGzip
from .output import Feed
from .parquet import Parquet
from .sqlite import Sqlite
from .stdout import Stdout

_FORMATS: dict[str, type[JsonLines | JsonLinesGzip | Csv | Sqlite | Parquet]] = {
    "jsonl": JsonLines,
    "jsonl.gz": JsonLinesGzip,
    "csv": Csv,
    "spreadsheet": Csv,
    "sqlite": Sqlite,
    "parquet": Parquet,
}
#: Options of the feed of a format.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {"spreadsheet": {"escape_formulas": True}}
_EXTENSIONS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jl": "jsonl",
    ".jsonl.gz": "jsonl.gz",
    ".csv": "csv",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".parquet": "parquet",
}


def open_feed(spec: str, *, append: bool = False, position: int | None = None) -> Feed:
    """
    Open the feed that *spec* names: FILE by its extension, FILE:FORMAT, or - for stdout.

    >>> open_feed("items.csv"), open_feed("items.txt:jsonl", append=True), open_feed("-")
    """
    path, name = _parsed(spec)
    if path == "-":
        return Stdout()
    return _FORMATS[name](path, append=append, position=position, **_OPTIONS.get(name, {}))


def check_feed(spec: str) -> None:
    """Raise the error that open_feed() would for this *spec*, as far as it is known beforehand."""
    path, name = _parsed(spec)
    (Stdout if path == "-" else _FORMATS[name]).check(path)


def _parsed(spec: str) -> tuple[str, str]:
    path, _, name = spec.rpartition(":")
    if path == "-" and name != "jsonl":
        raise ValueError(f"standard output takes JSON Lines, not {name}")
    if path and name in _FORMATS:
        return path, name
    if spec == "-":
        return spec, "jsonl"
    extensions = [suffix.lower() for suffix in Path(spec).suffixes]
    for extension in ("".join(extensions[-2:]), *extensions[-1:]):
        if extension in _EXTENSIONS:
            return spec, _EXTENSIONS[extension]
    if extensions[-1:] == [".json"]:
        raise ValueError(f"{spec!r}: a JSON array cannot be written as items come, use .jsonl")
    raise ValueError(
        f"{spec!r} does not name a format: end it in {', '.join(_EXTENSIONS)}, "
        f"or add one of {', '.join(f':{name}' for name in _FORMATS)}"
    )
