import json
import math
from collections import OrderedDict, UserDict, deque
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.feed import as_record
from crawler.feed.record import cell, to_json


class Colour(Enum):
    RED = "red"


class Size(IntEnum):
    BIG = 3


class Shape(StrEnum):
    ROUND = "round"


class SmartText(str):
    __slots__ = ("document",)


@dataclass(frozen=True, slots=True)
class Author:
    name: str
    born: date | None = None


@dataclass
class Quote:
    text: str
    author: Author
    tags: set[str] = field(default_factory=set)


QUOTE = {"text": "To be", "author": {"name": "W", "born": "1564-04-26"}, "tags": ["a", "b"]}


def test_a_dataclass_is_its_fields_nested_too():
    quote = Quote("To be", Author("W", date(1564, 4, 26)), {"b", "a"})

    assert as_record(quote) == QUOTE


def test_an_attrs_object_is_its_fields_nested_too():
    attrs = pytest.importorskip("attrs")
    author = attrs.make_class("Author", ["name", "born"], slots=True, frozen=True)
    quote = attrs.make_class("Quote", ["text", "author", "tags"])

    assert as_record(quote("To be", author("W", date(1564, 4, 26)), {"b", "a"})) == QUOTE


def test_a_pydantic_object_is_its_fields_nested_too():
    pydantic = pytest.importorskip("pydantic")
    author = pydantic.create_model("Author", name=str, born=date)
    quote = pydantic.create_model("Quote", text=str, author=author, tags=set[str])

    model = quote(text="To be", author=author(name="W", born="1564-04-26"), tags={"a", "b"})

    assert as_record(model) == QUOTE


@pytest.mark.parametrize(
    "mapping",
    [{"a": 1}, OrderedDict(a=1), UserDict(a=1), MappingProxyType({"a": 1})],
    ids=lambda mapping: type(mapping).__name__,
)
def test_any_mapping_is_a_record_and_is_not_changed(mapping):
    record = as_record(mapping)
    record["b"] = 2

    assert record == {"a": 1, "b": 2}
    assert dict(mapping) == {"a": 1}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (0, 0),
        (-0.5, -0.5),
        (2**100, 2**100),
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
        (datetime(2026, 1, 2, 3, 4, 5, 6), "2026-01-02T03:04:05.000006"),  # noqa: DTZ001
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (timedelta(minutes=1, milliseconds=500), 60.5),
        (Decimal("1.10"), "1.10"),
        (Decimal("NaN"), "NaN"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("/a/b"), "/a/b"),
        (Path("a\udcff"), "a\ufffd"),
        (ip_address("::1"), "::1"),
        (b"\x00\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        (memoryview(b"a"), "YQ=="),
        (Colour.RED, "red"),
        (Size.BIG, 3),
        (Shape.ROUND, "round"),
        (SmartText("text"), "text"),
        ("\ud800", "\ufffd"),
        ("a\udc80b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ((1, (2,)), [1, [2]]),
        (deque([1]), [1]),
        (range(2), [0, 1]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", 1}), ["b", 1]),
        ({}.keys(), []),
        ({1: {None: {True: 1.5}}}, {"1": {"null": {"true": 1.5}}}),
        ({date(2026, 1, 2): 1, (1, 2): 2}, {"2026-01-02": 1, "[1, 2]": 2}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_value_has_one_form_json_knows(value, written):
    record = as_record({"field": value, "nested": [{"x": value}]})

    assert record == {"field": written, "nested": [{"x": written}]}
    assert type(record["field"]) is type(written)
    assert json.loads(to_json(record)) == record


@pytest.mark.parametrize(
    "value",
    [object(), 1j, Author, len, (n for n in range(3)), Ellipsis],
    ids=lambda value: type(value).__name__,
)
def test_a_field_that_is_no_data_is_named(value):
    with pytest.raises(TypeError, match=r"field 'price': .* is not something a feed can write"):
        as_record({"name": "x", "price": [{"deep": value}]})


@pytest.mark.parametrize("value", [None, 7, "text", b"", [1], {1}, object(), Author, dict])
def test_what_has_no_fields_is_no_record(value):
    with pytest.raises(TypeError, match="a record is a mapping or a dataclass, attrs or pydantic"):
        as_record(value)


def test_two_fields_of_one_name_are_not_merged_in_silence():
    with pytest.raises(ValueError, match="two fields have the same name"):
        as_record({1: "a", "1": "b"})
    with pytest.raises(ValueError, match="two fields have the same name"):
        as_record({"x": dict.fromkeys(["\ud800", "\udfff"])})


def test_json_is_readable_and_one_line_for_every_reader():
    assert to_json({"a": "é\u2028\u2029\x85\x9b\n"}) == '{"a": "é\\u2028\\u2029\\u0085\\u009b\\n"}'


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ([1, "a"], '[1, "a"]'),
        ({"a": None}, '{"a": null}'),
        (2**63, str(2**63)),
        (-(2**63) - 1, str(-(2**63) - 1)),
        (2**63 - 1, 2**63 - 1),
        (True, True),
        (None, None),
        ("", ""),
    ],
)
def test_a_cell_holds_what_a_table_can(value, held):
    assert cell(value) == held
    assert type(cell(value)) is type(held)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), anything))
def test_a_record_is_its_own_json_and_utf8(value):
    try:
        record = as_record(value)
    except ValueError as error:
        assert "two fields have the same name" in str(error)  # noqa: PT017
        return

    assert json.loads(to_json(record).encode()) == record
    assert as_record(record) == record
    assert len(to_json(record).splitlines()) == 1
