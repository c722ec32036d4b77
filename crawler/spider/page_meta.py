"""PageMeta: the meta of a page."""

from __future__ import annotations

from typing import Any

from ..data import Response
from ..read_only_dict import RequestMeta


class PageMeta(RequestMeta):
    """
    The meta of the request of a page, and facts of the fetch by the names that Scrapy uses.

    The facts are found if they are asked for, and not copied: ``meta=page.meta`` hands on only what
    the request was given.
    """

    def __init__(self, page: Response) -> None:
        super().__init__(page.request.meta)
        self._facts = _facts(page)

    def __missing__(self, name: str) -> Any:
        return self._facts[name] if name in self._facts else super().__missing__(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._facts

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self or name == "link_text" else default


def _facts(page: Response) -> dict[str, Any]:
    """Return what Scrapy's own middlewares write into meta; there are no keys for what did not happen."""
    request = page.request
    facts: dict[str, Any] = {"depth": request.depth, "download_latency": page.elapsed}
    if request.redirects:
        facts |= {
            "redirect_urls": list(request.redirects),
            "redirect_times": len(request.redirects),
        }
    if request.attempts:
        facts["retry_times"] = len(request.attempts)
    return facts
