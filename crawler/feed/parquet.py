"""Parquet: a Parquet file, made of parts that survive a crash."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

from . import parquet_columns as columns
from .append_file import AppendFile, draft_of, mapped, put_in_place
from .output import Feed, FeedError
from .record import Cell, cell, to_json

#: How many bytes of rows finish a group, even if the rows are few.
_LARGEST = 64 * 2**20


class Parquet(Feed):
    """
    A row for each record and a column for each field of any record, in row groups.

    A Parquet file cannot be read before it is finished. So while the feed is open, everything is
    in the directory ``PATH.parts``: a finished file for each *group* of rows, with the columns
    of these rows, and a file of JSON Lines for the rows after them. close() joins them into one
    file at *path* with all columns. After a crash the parts can be read as they are; the next
    feed that appends to *path* continues with the parts, or with the file at *path*, and joins
    them when it is closed.

    A column holds booleans, integers, floats or text. A column with values of several kinds
    holds floats if all are numbers (an integer beyond 2**53 is rounded), and else text; lists
    and objects are JSON text. Finishing a group of 5,000 rows takes about 20 ms of the hub's
    thread, and close() the time to copy everything.

    A position is a number of rows. Needs the extra ``parquet``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        append: bool = False,
        position: int | None = None,
        group: int = 5000,
    ) -> None:
        super().__init__(path)
        self.group = group
        self._parts = _parts_of(self.path)
        self._make_room(append=append or position is not None)
        self._sizes = list(self._sizes_of_parts())
        self._spool = AppendFile(self._part(len(self._sizes), "jsonl"), append=True)
        self._waiting = self._read_spool()
        if position is not None:
            self.rewind(position)

    @classmethod
    def check(cls, path: str | os.PathLike[str]) -> Path:
        columns.parquet()  # fails at once if the extra is missing
        return super().check(path)

    @classmethod
    def remove(cls, path: Path) -> None:
        super().remove(path)
        shutil.rmtree(_parts_of(path), ignore_errors=True)

    def flush(self) -> None:
        """Do nothing: the operating system already has what was written."""

    def position(self) -> int:
        return sum(self._sizes) + len(self._waiting)

    def rewind(self, position: int) -> None:
        if position > self.position():
            raise self._too_short(position, self.position(), "row")
        whole, rest = 0, position
        while whole < len(self._sizes) and rest >= self._sizes[whole]:
            rest -= self._sizes[whole]
            whole += 1
        if whole == len(self._sizes):
            self._cut_spool(rest)
        else:
            self._cut_parts(whole, rest)

    def _write(self, record: dict[str, Any]) -> None:
        if not record:
            return
        row = _row(record)
        before = self._spool.size
        self._spool.write(to_json(record).encode() + b"\n")
        self._waiting.append(row)
        if len(self._waiting) < self.group and self._spool.size < _LARGEST:
            return
        try:
            self._finish_group()
        except BaseException:
            self._waiting.pop()
            self._spool.cut(before)
            raise

    def _finish_group(self) -> None:
        part = self._part(len(self._sizes), "parquet")
        spool = AppendFile(self._part(len(self._sizes) + 1, "jsonl"), append=False)
        columns.parquet().write_table(columns.table_of(self._waiting), draft_of(part))
        put_in_place(draft_of(part), part)
        self._sizes.append(len(self._waiting))
        self._continue_with(spool)

    def _release(self) -> None:
        try:
            if self._waiting:
                self._finish_group()
            self._join()
        finally:
            self._spool.close()
        shutil.rmtree(self._parts)

    def _join(self) -> None:
        parts = [self._part(number, "parquet") for number in range(len(self._sizes))]
        if len(parts) == 1:
            parts[0].replace(self.path)
            return
        draft = self._parts / "joined.draft"
        columns.join(parts, draft)
        draft.replace(self.path)

    # -- the directory: 000000.parquet, 000001.parquet, and 000002.jsonl for the rows after them ---

    def _part(self, number: int, kind: str) -> Path:
        return self._parts / f"{number:06}.{kind}"

    def _make_room(self, *, append: bool) -> None:
        exists = self.path.exists()
        if exists and not self.path.is_file():
            raise FeedError(f"{self.path} is not a file: remove it, or name another output")
        if exists and append:
            _number_of_rows(self.path)
        # There is a file beside parts only if a crash came after they had been joined.
        if exists or not append:
            shutil.rmtree(self._parts, ignore_errors=True)
        self._parts.mkdir(parents=True, exist_ok=True)
        if exists and append:
            self.path.rename(self._part(0, "parquet"))
        elif exists:
            self.path.unlink()

    def _sizes_of_parts(self) -> Iterator[int]:
        for number in count():
            part = self._part(number, "parquet")
            if not part.exists():
                return
            yield _number_of_rows(part)

    def _read_spool(self) -> list[dict[str, Cell]]:
        """Return the rows that are not in a part yet; cut off a last line without its end."""
        for leftover in {*self._parts.glob("*.jsonl"), *self._parts.glob("*.draft")}:
            if leftover != self._spool.path:
                leftover.unlink()
        with mapped(self._spool.path) as content:
            lines = content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
        self._spool.cut(sum(map(len, lines)))
        return [_row(json.loads(line)) for line in lines]

    def _cut_spool(self, rows: int) -> None:
        with self._spool.path.open("rb") as lines:
            self._spool.cut(sum(map(len, islice(lines, rows))))
        del self._waiting[rows:]

    def _cut_parts(self, whole: int, rest: int) -> None:
        """Keep the first *whole* parts, and *rest* rows of the next one."""
        spool = AppendFile(self._part(whole + bool(rest), "jsonl"), append=False)
        for number in reversed(range(whole + bool(rest), len(self._sizes))):
            self._part(number, "parquet").unlink()
            self._sizes.pop()
        if rest:
            part = self._part(whole, "parquet")
            columns.copy_rows(part, draft_of(part), rest)
            put_in_place(draft_of(part), part)
            self._sizes[whole] = rest
        self._continue_with(spool)

    def _continue_with(self, spool: AppendFile) -> None:
        self._spool.close()
        self._spool.path.unlink(missing_ok=True)
        self._spool = spool
        self._waiting = []


def _parts_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.parts")


def _row(record: dict[str, Any]) -> dict[str, Cell]:
    return {name: cell(value) for name, value in record.items()}


def _number_of_rows(path: Path) -> int:
    try:
        rows: int = columns.parquet().read_metadata(path).num_rows
    except (columns.pyarrow().ArrowException, OSError) as error:
        raise FeedError(f"{path} is not a whole Parquet file: {error}") from error
    return rows
