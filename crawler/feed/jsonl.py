"""JSON Lines: one record a line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .append_file import AppendFile, mapped
from .output import Feed, FeedError
from .record import to_json


class JsonLines(Feed):
    """
    A line of JSON in UTF-8 for each record, in the file when the call returns.

    A position is a number of bytes. Appending without one finishes or removes a last line
    that has no end.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        append: bool = False,
        position: int | None = None,
    ) -> None:
        super().__init__(path)
        self._file = AppendFile(self.path, append=append or position is not None)
        if position is not None:
            self.rewind(position)
        elif append:
            self._mend()

    def flush(self) -> None:
        """Do nothing: what was written is with the operating system already."""

    def position(self) -> int:
        return self._file.size

    def rewind(self, position: int) -> None:
        if position > self._file.size:
            raise self._too_short(position, self._file.size, "bytes")
        if position and not _ends_a_line(self.path, position):
            raise FeedError(
                f"{self.path} has no end of a record at byte {position}: it was changed"
            )
        self._file.cut(position)

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(to_json(record).encode() + b"\n")

    def _mend(self) -> None:
        with mapped(self.path) as content:
            end = content.rfind(b"\n") + 1
            rest = content[end:]
        if not rest:
            return
        if _is_json(rest):
            self._file.write(b"\n")
        else:
            self._file.cut(end)

    def _release(self) -> None:
        self._file.close()


def _ends_a_line(path: Path, position: int) -> bool:
    with mapped(path) as content:
        return content[position - 1 : position] == b"\n"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
