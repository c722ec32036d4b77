"""Callback rules: which method of the spider gets which page."""

from __future__ import annotations

from collections.abc import Mapping
from re import Pattern
from typing import Any

from ...data import Request, Response
from .per_spider import PerSpider, compiled


class CallbackRules(PerSpider[list[tuple[Pattern[str], str]]]):
    """
    Chooses the callback of a request by its URL: the first rule whose pattern is found.

    The rules, the spider's ``callback_rules`` unless given, map patterns to names of its
    methods. A request that names its own callback keeps it, and one that no rule fits goes
    to parse(). So a page is handled once, by the method chosen when it was found, wherever
    it is redirected to. A rule for a method that does not exist is an error at the start.
    """

    def __init__(self, rules: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._rules = rules

    def make(self, spider: Any) -> list[tuple[Pattern[str], str]]:
        rules: Mapping[str, str] = self.told(self._rules, "callback_rules", spider)
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
