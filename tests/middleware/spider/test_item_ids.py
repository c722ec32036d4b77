import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import attrs
import pytest
from pydantic import BaseModel

from crawler.middleware import ItemIds
from crawler.middleware.spider.item_ids import stable_hash

from .chains import PAGE, collect, opened


def item_of(item, *fields, target="id"):
    [found] = opened(ItemIds(target, fields)).response(PAGE, lambda _: item)
    return found


def test_an_id_is_made_of_the_fields_named():
    chain = opened(ItemIds, id_field="guid", id_fields_to_hash=["supplier_name", "supplier_id"])
    given = {"supplier_name": "Acme", "supplier_id": 7, "price": 1}

    [item] = chain.response(PAGE, lambda _: given)

    assert item == given | {"guid": "e112247ab8b0d0f86c32f1e5b78449be"}
    assert "guid" not in given


def test_an_id_is_the_same_in_every_process():
    script = "from crawler.middleware.spider.item_ids import stable_hash; print(stable_hash({'a': ['x', 1]}))"

    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, env={"PYTHONHASHSEED": "7"}
    )

    assert printed.stdout.decode().strip() == stable_hash({"a": ["x", 1]})


def test_different_values_have_different_ids():
    moment = datetime(2024, 1, 2, tzinfo=UTC)
    values = [
        {"a": "xy", "b": "z"}, {"a": "x", "b": "yz"}, {"a": "x"}, {"b": "x"}, {"a": b"x"},
        {"a": 1}, {"a": "1"}, {"a": 1.0}, {"a": True}, {"a": None}, {"a": "None"}, {"a": ""},
        {"a": []}, {"a": [1, 2]}, {"a": [[1], 2]}, {"a": [12]}, {"a": {"1": 2}}, {"a": {1: 2}},
        {"a": Decimal(1)}, {"a": date(2024, 1, 2)}, {"a": moment}, {"a": str(moment)},
        {"a": UUID(int=1)}, {"a": ["x", "y"]}, {"a": ["xy"]}, {"a": "\ud800"},
    ]  # fmt: skip

    assert len({stable_hash(value) for value in values}) == len(values)


def test_the_order_of_fields_makes_no_difference_nor_does_list_or_tuple():
    assert stable_hash({"a": 1, "b": 2}) == stable_hash({"b": 2, "a": 1})
    assert stable_hash([1, 2]) == stable_hash((1, 2))


@dataclass(frozen=True)
class Point:
    x: int
    id: str = ""


@attrs.frozen
class Place:
    x: int
    id: str = ""


class Product(BaseModel):
    x: int
    id: str = ""


@pytest.mark.parametrize("kind", [Point, Place, Product])
def test_items_of_every_kind_get_an_id_and_the_given_one_is_left_alone(kind):
    given = kind(x=1)

    found = item_of(given, "x")

    assert found.id == stable_hash({"x": 1})
    assert found == kind(x=1, id=found.id)
    assert given.id == ""


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"y": 1}, "the item has no field 'x' to make its id of"),
        (Point(1), "the item has no field 'guid' for its id"),
        ({"x": object()}, "object has no one form"),
        ({"x": {1, 2}}, "set has no one form"),
    ],
)
def test_an_item_no_id_can_be_made_for_is_dropped_and_reported(item, reason):
    found, error = collect(opened(ItemIds("guid", ["x"])).response(PAGE, lambda _: [item]))

    assert found == []
    assert reason in str(error)


@pytest.mark.parametrize(("target", "fields"), [("id", []), ("id", "name"), ("id", ["id"])])
def test_fields_that_cannot_be_meant_are_errors_at_the_start(target, fields):
    with pytest.raises(ValueError, match="id_fields_to_hash"):
        opened(ItemIds(target, fields))
