"""
Columns of Parquet files, and the kind of values that each holds.

A column holds booleans, integers, floats or text. A column with values of several kinds holds
floats if all are numbers, and else text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, TypeAlias

from . import optional_import as extra
from .record import Cell, plain, to_json

Row: TypeAlias = "Mapping[str, Cell]"


def pyarrow() -> Any:
    return extra.load("pyarrow", "parquet")


def parquet() -> Any:
    return extra.load("pyarrow.parquet", "parquet")


def table_of(rows: Sequence[Row]) -> Any:
    names = dict.fromkeys(name for row in rows for name in row)
    return pyarrow().table({name: _array([row.get(name) for row in rows]) for name in names})


def join(parts: Sequence[Path], target: Path) -> None:
    """Write the rows of all *parts* to one file with the columns of all."""
    schema = _joined_schema([parquet().read_schema(part) for part in parts])
    with parquet().ParquetWriter(target, schema) as writer:
        for part in parts:
            with parquet().ParquetFile(part) as file:
                for number in range(file.num_row_groups):
                    writer.write_table(_fitted(file.read_row_group(number), schema))


def copy_rows(part: Path, target: Path, rows: int) -> None:
    """Write the first *rows* of *part* to another file."""
    with (
        parquet().ParquetFile(part) as file,
        parquet().ParquetWriter(target, file.schema_arrow) as writer,
    ):
        for number in range(file.num_row_groups):
            table = file.read_row_group(number).slice(0, rows)
            rows -= table.num_rows
            writer.write_table(table)
            if not rows:
                return


def _array(values: list[Cell]) -> Any:
    arrow = pyarrow()
    kinds = {type(value) for value in values} - {NoneType}
    if kinds == {int, float}:
        return arrow.array([None if value is None else float(value) for value in values])
    if len(kinds) > 1:
        return arrow.array(map(_text, values), arrow.string())
    types = {bool: arrow.bool_, int: arrow.int64, float: arrow.float64, str: arrow.string}
    return arrow.array(values, types[kinds.pop()]() if kinds else arrow.null())


def _joined_schema(schemas: Iterable[Any]) -> Any:
    types: dict[str, set[Any]] = {}
    for schema in schemas:
        for field in schema:
            types.setdefault(field.name, set()).add(field.type)
    return pyarrow().schema([(name, _joined_type(kinds)) for name, kinds in types.items()])


def _joined_type(types: set[Any]) -> Any:
    arrow = pyarrow()
    known = types - {arrow.null()}
    if len(known) < 2:
        return next(iter(known), arrow.null())
    return arrow.float64() if known == {arrow.int64(), arrow.float64()} else arrow.string()


def _fitted(table: Any, schema: Any) -> Any:
    """Return *table* with the columns of *schema*; a column that it does not have is empty."""
    nothing = pyarrow().nulls(table.num_rows)
    columns = {name: table[name] for name in table.column_names}
    return pyarrow().table(
        [_converted(columns.get(field.name, nothing), field.type) for field in schema],
        schema=schema,
    )


def _converted(column: Any, kind: Any) -> Any:
    arrow = pyarrow()
    if column.type == kind:
        return column
    if kind == arrow.string() and column.type != arrow.null():
        return arrow.array(map(_text, column.to_pylist()), kind)
    return column.cast(kind, safe=False)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else to_json(plain(value))
