"""CallbackRules: the callback of a request, chosen by its URL."""

from __future__ import annotations

from collections.abc import Mapping
from re import Pattern
from typing import Any

from ...data import Request, Response
from .per_spider import PerSpider, compiled


class CallbackRules(PerSpider[list[tuple[Pattern[str], str]]]):
    """
    Chooses the callback of a request by the first rule whose pattern is found in its URL.

    The rules map patterns to names of the spider's methods; by default they are its attribute
    ``callback_rules``. A request that names a callback keeps it; without a matching rule it goes
    to parse(). The callback is chosen when the request is found, so a page is handled once and
    a redirect does not change its callback. A rule for a missing method is an error at the start.
    """

    def __init__(self, rules: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._rules = rules

    def make(self, spider: Any) -> list[tuple[Pattern[str], str]]:
        rules: Mapping[str, str] = self.configured(self._rules, "callback_rules", spider)
        for name in rules.values():
            if name.startswith("__") or not callable(getattr(type(spider), name, None)):
                raise ValueError(f"callback_rules: {type(spider).__name__} has no method {name!r}")
        return list(zip(compiled("callback_rules", rules), rules.values(), strict=True))

    def process_request(self, request: Request, response: Response | None, spider: Any) -> Request:
        if request.callback is not None:
            return request
        for pattern, name in self.of(spider):
            if pattern.search(request.url):
                return request.replace(callback=name)
        return request
