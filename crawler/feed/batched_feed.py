"""BatchedFeed: a feed whose rows wait in memory until they are written together."""

from __future__ import annotations

import os
from typing import Generic, TypeVar

from .output import Feed

Row = TypeVar("Row")


class BatchedFeed(Feed, Generic[Row]):
    """A feed with rows that wait; *_weight* is about how many bytes of text they have."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self._waiting: list[Row] = []
        self._weight = 0

    def _flush_with_last(self) -> None:
        """Flush; if that fails, drop the last row, because its write raises."""
        try:
            self.flush()
        except BaseException:
            self._waiting.pop()
            raise

    def _forget_waiting(self) -> None:
        self._waiting = []
        self._weight = 0
