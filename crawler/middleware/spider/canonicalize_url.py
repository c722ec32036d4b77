"""Canonical URLs, asked for as such."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ... import url as urls
from ...data import Request, Response
from ...errors import InvalidURL
from .per_spider import PerSpider

#: What each rule switches on; the first two hold for every canonical URL.
_RULES: dict[str, dict[str, bool]] = {
    "normalize-percent-encoding": {},
    "drop-fragment": {},
    "sort-query-args": {"sort_query": True},
    "drop-tracking-args": {"drop_tracking": True},
}


class CanonicalizeUrl(PerSpider[urls.Rules]):
    """
    Replaces the URL of every request by its canonical form.

    The rules, the spider's ``canonicalization_rules`` unless given, are names:
    ``normalize-percent-encoding`` and ``drop-fragment`` (always done), ``sort-query-args``,
    ``drop-tracking-args``. It changes what is fetched, and a few sites care for the order of
    arguments; that no page is fetched twice for a difference of spelling needs no middleware.
    Must stand below whatever compares URLs.
    """

    def __init__(self, rules: Collection[str] | None = None) -> None:
        super().__init__()
        self._rules = rules

    def make(self, spider: Any) -> urls.Rules:
        asked: dict[str, bool] = {}
        for name in self.told(self._rules, "canonicalization_rules", spider):
            if name not in _RULES:
                raise ValueError(f"canonicalization_rules: {name!r} is none of {', '.join(_RULES)}")
            asked |= _RULES[name]
        return urls.Rules(**asked)

    def process_request(self, request: Request, response: Response | None, spider: Any) -> Request:
        try:
            url = urls.canonicalize(request.url, self.of(spider))
        except InvalidURL:
            return request
        return request if url == request.url else request.replace(url=url)
