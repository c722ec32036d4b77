"""PerSpider: a middleware with state for each spider that it serves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from ...errors import StateError
from .contract import SpiderMiddleware

T = TypeVar("T")


class PerSpider(SpiderMiddleware, Generic[T]):
    """
    Makes the state for a spider when the crawl opens, and keeps it until the crawl closes.

    Override make(), which makes the state; of() returns it. An instance in the body of a spider
    class serves all spiders of that class, several at a time, so their states are kept apart.
    """

    def __init__(self) -> None:
        self._kept: dict[int, T] = {}

    def make(self, spider: Any) -> T:
        raise NotImplementedError

    def of(self, spider: Any) -> T:
        try:
            return self._kept[id(spider)]
        except KeyError:
            raise StateError(f"{type(self).__name__} was not opened for {spider!r}") from None

    def open_spider(self, spider: Any) -> None:
        self._kept[id(spider)] = self.make(spider)

    def close_spider(self, spider: Any) -> None:
        self._kept.pop(id(spider), None)

    def configured(self, given: Any, name: str, spider: Any) -> Any:
        """Return *given*, an argument of the middleware, or else the spider's attribute *name*."""
        value = getattr(spider, name, None) if given is None else given
        if value is None:
            raise ValueError(
                f"{type(self).__name__} needs {name}: give it, or set it in the spider"
            )
        return value


def compiled(name: str, patterns: Iterable[str]) -> list[re.Pattern[str]]:
    if isinstance(patterns, str):
        raise ValueError(f"{name} must be a list, not just {patterns!r}")
    return [_compiled(name, pattern) for pattern in patterns]


def _compiled(name: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{name}: {pattern!r} is not a regular expression: {error}") from None
