"""Output: what grows while a crawl runs, and can be cut back to where it was."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self, TypeVar

from ..errors import CrawlerError, StateError, Unfinished
from .record import as_record

Value = TypeVar("Value")


class FeedError(CrawlerError):
    """An output cannot be opened, continued or cut back; the message says what to do."""


class OutputClosed(FeedError, Unfinished):
    """Whoever read the output has gone: there is nobody left to write for."""


class Output(ABC):
    """
    What a crawl leaves behind, and how much of it is certain.

    A new one replaces what stood at *path*; with *append* it goes on after it; with
    *position*, which position() gave to an earlier one, it goes on from there and cuts off
    whatever came later. So a job that keeps the position in the transaction that settles a
    page has every record once, whenever it is killed.

    A write that raises has written nothing. What is flushed outlives this process, though
    not a loss of power. All of it works in the caller's thread and nothing switches
    greenlets, unless the class says so.

    *written* counts since the output was opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.written = 0
        self.closed = False

    @abstractmethod
    def flush(self) -> None:
        """Hand everything written so far to the operating system."""

    @abstractmethod
    def position(self) -> int:
        """Flush, and return where the output ends."""

    @abstractmethod
    def rewind(self, position: int) -> None:
        """Forget everything after *position*."""

    def close(self) -> None:
        """Flush and let go of the file; the second time there is nothing to do."""
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
            f"{self.path} ends after {end} {unit}, but {position} were recorded: it was changed "
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
    """An output of records, and a processor for a Pipeline: it passes on what it wrote."""

    def __call__(self, value: Value) -> Value:
        """Write *value*, which may be anything that as_record() takes, and return it."""
        self.write(as_record(value))
        return value

    def write(self, record: dict[str, Any]) -> None:
        """Write a *record* that as_record() has made; the feed does not change it."""
        if self.closed:
            raise self._closed_error()
        self._write(record)
        self.written += 1

    @abstractmethod
    def _write(self, record: dict[str, Any]) -> None: ...
