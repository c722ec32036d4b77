"""open_feed(): the feed for the name of an output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .csv_feed import Csv
from .feed_spec import FeedSpec
from .jsonl import JsonLines
from .jsonl_gzip import JsonLinesGzip
from .numbered_files import NumberedFiles
from .output import Feed, check_place
from .parquet import Parquet
from .sqlite import Sqlite
from .stdout import Stdout

_FEEDS: dict[str, type[JsonLines | JsonLinesGzip | Csv | Sqlite | Parquet]] = {
    "jsonl": JsonLines,
    "jsonl.gz": JsonLinesGzip,
    "csv": Csv,
    "spreadsheet": Csv,
    "sqlite": Sqlite,
    "parquet": Parquet,
}
#: Options of the feed of a format.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {"spreadsheet": {"escape_formulas": True}}


def open_feed(spec: str, *, append: bool = False, position: int | None = None) -> Feed:
    """
    Open the feed that *spec* names: FILE by its extension, FILE:FORMAT, or - for stdout.

    Options follow: the fields of each record, and the size of each of several files.

    >>> open_feed("items.csv"), open_feed("items.txt:jsonl", append=True), open_feed("-")
    >>> open_feed("items.csv:fields=url,title"), open_feed("items-%03d.jsonl:records=10000")
    """
    wanted = FeedSpec.parse(spec)
    feed = _opened(wanted, append=append, position=position)
    feed.fields = wanted.fields
    return feed


def check_feed(spec: str) -> None:
    """Raise the error that open_feed() would for this *spec*, as far as it is known beforehand."""
    wanted = FeedSpec.parse(spec)
    if wanted.path == "-":
        Stdout.check(wanted.path)
    else:
        check_place(_FEEDS[wanted.format].check(wanted.path))


def _opened(spec: FeedSpec, *, append: bool, position: int | None) -> Feed:
    if spec.path == "-":
        return Stdout()
    feed = _FEEDS[spec.format]
    make: Callable[..., Feed] = partial(feed, **_OPTIONS.get(spec.format, {}))
    if spec.is_numbered:
        return NumberedFiles(spec, make, feed.remove, append=append, position=position)
    return make(spec.path, append=append, position=position)
