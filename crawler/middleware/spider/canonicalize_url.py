"""CanonicalizeUrl: requests for the canonical form of their URLs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ... import url as urls
from ...data import Request, Response
from ...errors import InvalidURL
from .per_spider import PerSpider

#: The options that each rule sets; the first two rules hold for every canonical URL.
_RULES: dict[str, dict[str, bool]] = {
    "normalize-percent-encoding": {},
    "drop-fragment": {},
    "sort-query-args": {"sort_query": True},
    "drop-tracking-args": {"drop_tracking": True},
}


class CanonicalizeUrl(PerSpider[urls.Rules]):
    """
    Replaces the URL of every request by its canonical form.

    The rules are names, by default those of the spider's ``canonicalization_rules``:
    ``normalize-percent-encoding`` and ``drop-fragment`` (always applied), ``sort-query-args``,
    ``drop-tracking-args``. They change the URL that is fetched, and on a few sites the order of
    arguments matters. The middleware is not needed to fetch each page only once: the frontier
    compares canonical URLs anyway. Place it below all middlewares that compare URLs.
    """

    def __init__(self, rules: Collection[str] | None = None) -> None:
        super().__init__()
        self._rules = rules

    def make(self, spider: Any) -> urls.Rules:
        asked: dict[str, bool] = {}
        for name in self.configured(self._rules, "canonicalization_rules", spider):
            if name not in _RULES:
                raise ValueError(
                    f"canonicalization_rules: {name!r} is not one of {', '.join(_RULES)}"
                )
            asked |= _RULES[name]
        return urls.Rules(**asked)

    def process_request(self, request: Request, response: Response | None, spider: Any) -> Request:
        try:
            url = urls.canonicalize(request.url, self.of(spider))
        except InvalidURL:
            return request
        return request if url == request.url else request.replace(url=url)
