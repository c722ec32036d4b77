"""JsonLines: a file with one record in each line."""

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
    A line of JSON in UTF-8 for each record, which is in the file when the call returns.

    A position is a number of bytes. Appending without a position completes or removes a last
    line that has no line break.
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
            self._repair()

    def flush(self) -> None:
        """Do nothing: the operating system already has what was written."""

    def position(self) -> int:
        return self._file.size

    def rewind(self, position: int) -> None:
        if position > self._file.size:
            raise self._too_short(position, self._file.size, "byte")
        if position and not _ends_a_line(self.path, position):
            raise FeedError(
                f"no record of {self.path} ends at byte {position}: the file was changed"
            )
        self._file.cut(position)

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(to_json(record).encode() + b"\n")

    def _repair(self) -> None:
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
