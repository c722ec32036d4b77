"""
The output of a crawl: items written as they come, and web archives written and replayed.

A Feed is a processor for a Pipeline; open_feed() opens the one for the format of a file name.
"""

from typing import TYPE_CHECKING

from .._lazy_import import lazy_names

if TYPE_CHECKING:
    from .csv_feed import Csv
    from .formats import check_feed, open_feed
    from .jsonl import JsonLines
    from .jsonl_gzip import JsonLinesGzip
    from .output import Feed, FeedError, Output, OutputClosed, check_place, local_path
    from .parquet import Parquet
    from .record import as_record
    from .sqlite import Sqlite
    from .stdout import Stdout
    from .warc.replay import WarcSite
    from .warc.writer import WarcWriter

__all__ = [
    "Csv",
    "Feed",
    "FeedError",
    "JsonLines",
    "JsonLinesGzip",
    "Output",
    "OutputClosed",
    "Parquet",
    "Sqlite",
    "Stdout",
    "WarcSite",
    "WarcWriter",
    "as_record",
    "check_feed",
    "check_place",
    "local_path",
    "open_feed",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Csv": "csv_feed",
        "Feed": "output",
        "FeedError": "output",
        "JsonLines": "jsonl",
        "JsonLinesGzip": "jsonl_gzip",
        "Output": "output",
        "OutputClosed": "output",
        "Parquet": "parquet",
        "Sqlite": "sqlite",
        "Stdout": "stdout",
        "WarcSite": "warc.replay",
        "WarcWriter": "warc.writer",
        "as_record": "record",
        "check_feed": "formats",
        "check_place": "output",
        "local_path": "output",
        "open_feed": "formats",
    },
)
