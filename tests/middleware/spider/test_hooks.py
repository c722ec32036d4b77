from dataclasses import dataclass

import attrs
import pytest
from pydantic import BaseModel

from crawler.data import Request
from crawler.middleware.spider.hooks import results

from .chains import HOME


@dataclass
class Point:
    x: int


@dataclass
class Path:
    points: list

    def __iter__(self):
        return iter(self.points)


@attrs.define
class Place:
    name: str

    def __iter__(self):
        return iter(self.name)


class Product(BaseModel):
    price: int


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, []),
        ([], []),
        ({"n": 1}, [{"n": 1}]),
        (HOME, [HOME]),
        (Request(HOME), [Request(HOME)]),
        (Point(1), [Point(1)]),
        (Path([1, 2]), [Path([1, 2])]),
        (Place("here"), [Place("here")]),
        (Product(price=3), [Product(price=3)]),
        (({"n": 1}, HOME), [{"n": 1}, HOME]),
        ((n for n in "ab"), ["a", "b"]),
        ({"n": 1}.values(), [1]),
        (5, [5]),
    ],
)
def test_results_of_any_shape_are_read(value, read):
    assert list(results(value)) == read
