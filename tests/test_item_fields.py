import dataclasses
from collections import UserDict
from types import MappingProxyType

import attrs
import pydantic
import pytest

from crawler.data import is_item
from crawler.item_fields import fields_of


@dataclasses.dataclass(frozen=True, slots=True)
class Quote:
    text: str


AttrsQuote = attrs.make_class("AttrsQuote", ["text"], slots=True, frozen=True)
PydanticQuote = pydantic.create_model("PydanticQuote", text=str)
ITEMS = {
    "dict": {"text": "To be"},
    "mapping": MappingProxyType({"text": "To be"}),
    "user mapping": UserDict(text="To be"),
    "dataclass": Quote("To be"),
    "attrs": AttrsQuote("To be"),
    "pydantic": PydanticQuote(text="To be"),
}
NO_ITEMS = {
    "nothing": None,
    "text": "To be",
    "bytes": b"To be",
    "number": 1,
    "list": [{"text": "To be"}],
    "pairs": [("text", "To be")],
    "object": object(),
    "dataclass itself": Quote,
    "attrs class itself": AttrsQuote,
    "pydantic class itself": PydanticQuote,
}


@pytest.mark.parametrize("value", ITEMS.values(), ids=ITEMS)
def test_mappings_and_objects_with_named_fields_are_items(value):
    assert is_item(value)
    assert fields_of(value) == {"text": "To be"}


@pytest.mark.parametrize("value", NO_ITEMS.values(), ids=NO_ITEMS)
def test_anything_else_is_not_an_item_and_has_no_fields(value):
    assert not is_item(value)
    assert fields_of(value) is None
