"""FeedSpec: what the name of an output says: its file, its format and its options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

FORMATS = ("jsonl", "jsonl.gz", "csv", "spreadsheet", "sqlite", "parquet")
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
#: Where an option begins. The name of a field may have a colon.
_OPTION = re.compile(r":(fields|records|bytes)=")
_NUMBER = re.compile(r"%(?:0[1-9])?d")
_SIZE = re.compile(r"([0-9]{1,15})(|b|kb|mb|gb|kib|mib|gib)", re.IGNORECASE)
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True)
class FeedSpec:
    """
    An output: FILE, FILE:FORMAT, and after that :fields=…, :records=… and :bytes=….

    *fields* are the fields of each record, in their order; empty means all. With *records* or
    *bytes*, the largest number and size of the records in one file, the path has a number: "items-%03d.csv".
    """

    path: str
    format: str
    fields: tuple[str, ...] = ()
    records: int | None = None
    bytes: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raise ValueError, with what is known, if *text* does not name an output."""
        file, *options = _OPTION.split(text)
        given = dict(zip(options[::2], options[1::2], strict=True))
        if len(given) < len(options) // 2:
            raise ValueError(f"{text!r} has an option twice")
        path, name = _path_and_format(file)
        spec = cls(
            path,
            name,
            _fields(given["fields"]) if "fields" in given else (),
            _positive(given["records"], "records") if "records" in given else None,
            _positive(given["bytes"], "bytes") if "bytes" in given else None,
        )
        spec._check_number()
        return spec

    @property
    def is_numbered(self) -> bool:
        return self.records is not None or self.bytes is not None

    def numbered_path(self, number: int) -> Path:
        return Path(_NUMBER.sub(lambda place: place[0] % number, self.path))

    def _check_number(self) -> None:
        numbers = len(_NUMBER.findall(Path(self.path).name))
        if self.is_numbered and numbers != 1:
            raise ValueError(
                f"{self.path!r} needs one number in its name, such as items-%03d.jsonl: "
                "records and bytes are limits of one file of several"
            )
        if numbers and not self.is_numbered:
            raise ValueError(
                f"{self.path!r} has a number in its name, but no size: add the limit of one "
                "file, such as :records=10000 or :bytes=100MB"
            )


def _path_and_format(file: str) -> tuple[str, str]:
    path, _, name = file.rpartition(":")
    if path == "-" and name != "jsonl":
        raise ValueError(f"standard output takes JSON Lines, not {name}")
    if path and name in FORMATS:
        return path, name
    if file == "-":
        return file, "jsonl"
    extensions = [suffix.lower() for suffix in Path(file).suffixes]
    for extension in ("".join(extensions[-2:]), *extensions[-1:]):
        if extension in _EXTENSIONS:
            return file, _EXTENSIONS[extension]
    if extensions[-1:] == [".json"]:
        raise ValueError(f"{file!r}: a JSON array cannot be written as items come, use .jsonl")
    raise ValueError(
        f"{file!r} does not name a format: end it in {', '.join(_EXTENSIONS)}, "
        f"or add one of {', '.join(f':{name}' for name in FORMATS)}; "
        "options come last: :fields=…, :records=…, :bytes=…"
    )


def _fields(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if "" in names or len(set(names)) < len(names):
        raise ValueError(f"fields are names with commas between them, each once, not {text!r}")
    return names


def _positive(text: str, option: str) -> int:
    size = _SIZE.fullmatch(text)
    unit = size[2].lower() if size else ""
    number = int(size[1]) * _UNITS.get(unit, 1) if size else 0
    if not number or (unit and option == "records"):
        example = "10000" if option == "records" else "100MB"
        raise ValueError(f"{option} is a number above 0, such as {example}, not {text!r}")
    return number
