"""NumberedFiles: records in a series of files, each of a limited size."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from .feed_spec import FeedSpec
from .output import Feed
from .record import to_json

#: The bits of each of the four numbers in a position.
_BITS = 64


class _Place(NamedTuple):
    """
    How far a series has got: the *number* of its last file, 0 if there is none.

    *records* and *size* are those of that file, and *position* is its own.
    """

    number: int = 0
    records: int = 0
    size: int = 0
    position: int = 0

    def packed(self) -> int:
        packed = 0
        for value in self:
            packed = packed << _BITS | value
        return packed

    @classmethod
    def unpacked(cls, packed: int) -> _Place:
        values = (packed >> _BITS * place & (1 << _BITS) - 1 for place in (3, 2, 1, 0))
        return cls(*values)


class NumberedFiles(Feed):
    """
    A series of files of one format, such as items-001.csv, items-002.csv.

    A file is finished, and can be used, when the first record comes that would make it larger than
    the limits of *spec* allow: the number of its records, or their size as JSON. A record that
    is larger alone has a file for itself. *make* opens one file, *remove* removes one.

    A new series removes the files of the one before. Appending begins a new file after the
    last. A position packs four numbers into one.
    """

    def __init__(
        self,
        spec: FeedSpec,
        make: Callable[..., Feed],
        remove: Callable[[Path], object],
        *,
        append: bool = False,
        position: int | None = None,
    ) -> None:
        super().__init__(spec.path)
        self._spec = spec
        self._make = make
        self._remove = remove
        self._feed: Feed | None = None
        self._place = _Place()
        if position is not None:
            self.rewind(position)
        elif append:
            self._place = _Place(next(n for n in count() if not self._exists(n + 1)))
        else:
            self._remove_after(0)

    def flush(self) -> None:
        if self._feed is not None:
            self._feed.flush()

    def position(self) -> int:
        if self._feed is not None:
            self._place = self._place._replace(position=self._feed.position())
        return self._place.packed()

    def rewind(self, position: int) -> None:
        self._finish()
        self._place = place = _Place.unpacked(position)
        if place.records:
            self._feed = self._make(self._path(place.number), position=place.position)
        self._remove_after(place.number)

    def _write(self, record: dict[str, Any]) -> None:
        size = len(to_json(record)) + 1 if self._spec.bytes is not None else 0
        if self._feed is None or self._is_full(size):
            self._begin()
        assert self._feed is not None  # noqa: S101 - for the type checker
        self._feed.write(record)
        place = self._place
        self._place = place._replace(records=place.records + 1, size=place.size + size)

    def _is_full(self, size: int) -> bool:
        records, most = self._spec.records, self._spec.bytes
        return self._place.records > 0 and (
            (records is not None and self._place.records >= records)
            or (most is not None and self._place.size + size > most)
        )

    def _begin(self) -> None:
        self._finish()
        number = self._place.number + 1
        self._feed = self._make(self._path(number))
        self._place = _Place(number)

    def _finish(self) -> None:
        feed, self._feed = self._feed, None
        if feed is not None:
            feed.close()

    def _remove_after(self, number: int) -> None:
        for later in count(number + 1):
            if not self._exists(later):
                return
            self._remove(self._path(later))

    def _exists(self, number: int) -> bool:
        path = self._path(number)
        return path.exists() or path.with_name(f"{path.name}.parts").exists()

    def _path(self, number: int) -> Path:
        return self._spec.numbered_path(number)

    def _release(self) -> None:
        self.position()  # the place stays known
        self._finish()
