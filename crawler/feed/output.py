"""Output: a file that grows during a crawl, and can be cut back to an earlier position."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self, TypeVar

from .._words import counted
from ..errors import CrawlerError, StateError, Unfinished
from .record import as_record

Value = TypeVar("Value")

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class FeedError(CrawlerError):
    """An output cannot be opened, continued or cut back; the message says what to do."""


class OutputClosed(FeedError, Unfinished):
    """The reader of the output has closed it: nothing more can be written."""


def local_path(path: str | os.PathLike[str]) -> Path:
    """Return *path*; raise ValueError if it is a URL, which would become a directory of that name."""
    if _URL.match(str(path)):
        raise ValueError(
            f"{str(path)!r} is a URL, and only local files are written: name a file and upload it "
            "when the crawl has ended, or write the records to stdout (-o -) and pipe them on"
        )
    return Path(path)


def check_place(path: Path) -> None:
    """Raise OSError if no file can be written at *path*, without a change of anything there."""
    if path.exists():
        if path.is_file() or path.is_dir():  # a pipe would wait for its reader
            path.open("ab").close()
        return
    # Directories that are missing are made when the file is opened.
    place = next(above for above in path.resolve().parents if above.exists())
    try:
        TemporaryFile(dir=place).close()
    except OSError as error:
        raise OSError(
            error.errno, f"{error.strerror}: no file can be made there", str(place)
        ) from None


class Output(ABC):
    """
    A file that a crawl writes, and up to which position it is certain.

    A new output replaces the file at *path*. With *append* it continues after the content of
    the file; with *position*, which position() of an earlier output returned, it continues there
    and cuts off the rest. So a job that stores the position in the transaction that settles a
    page has every record exactly once, whenever it is killed.

    A write that raises has written nothing. What is flushed survives this process, but not a
    power failure. All methods work in the caller's thread and do not switch greenlets, unless
    the class says so.

    *written* counts what was written since the output was opened, and *unwritten* what could not
    be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = self.check(path)
        self.written = 0
        self.unwritten = 0
        self.closed = False

    @classmethod
    def check(cls, path: str | os.PathLike[str]) -> Path:
        """Return *path* if an output can be there; otherwise raise an error. Nothing is changed."""
        return local_path(path)

    @classmethod
    def remove(cls, path: Path) -> None:
        """Remove all that an output at *path* consists of."""
        path.unlink(missing_ok=True)

    @abstractmethod
    def flush(self) -> None:
        """Give the operating system everything that was written."""

    @abstractmethod
    def position(self) -> int:
        """Flush, and return the position of the end of the output."""

    @abstractmethod
    def rewind(self, position: int) -> None:
        """Remove everything after *position*."""

    def close(self) -> None:
        """Flush and release the file; closing again does nothing."""
        if self.closed:
            return
        try:
            self.flush()
        finally:
            self.closed = True
            self._release()

    @abstractmethod
    def _release(self) -> None: ...

    def _closed_error(self) -> StateError:
        return StateError(f"{self.path} is closed: nothing more can be written to it")

    def _too_short(self, position: int, end: int, unit: str) -> FeedError:
        return FeedError(
            f"{self.path} ends after {counted(end, unit)}, but {position} were recorded: it was changed "
            f"or removed since; put it back or start afresh"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<{type(self).__name__} {self.path}, {state}, {self.written} written>"


class Feed(Output):
    """
    An output of records, and a processor for a Pipeline: it passes on what it wrote.

    *fields* are those of each record, in their order, with None for those that it lacks; empty
    means all that a record has.
    """

    fields: Sequence[str] = ()

    def __call__(self, value: Value) -> Value:
        """Write *value*, which may be anything that as_record() takes, and return it."""
        self.write(as_record(value))
        return value

    def write(self, record: dict[str, Any]) -> None:
        """Write a *record* that as_record() has made; the feed does not change it."""
        if self.closed:
            raise self._closed_error()
        if self.fields:
            record = {name: record.get(name) for name in self.fields}
        self._write(record)
        self.written += 1

    @abstractmethod
    def _write(self, record: dict[str, Any]) -> None: ...
