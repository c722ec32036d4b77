"""Duplicates: each request passes once in a crawl."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ... import url as urls
from ...data import Request, Response
from ...errors import InvalidURL
from ...frontier.admission.fingerprint import fingerprint
from ...frontier.admission.seen import ExactSeen, Seen
from .per_spider import PerSpider

log = logging.getLogger(__name__)


class Duplicates(PerSpider[Seen]):
    """
    Drops requests for what the spider has asked for before, unless they say ``dont_filter``.

    Those leave no trace either. Must be first in the list, nearest to the engine: what
    another middleware drops after it has passed here would count as seen all the same. The
    frontier has a set that holds for redirects too and outlives a crash; this one, which
    *make_seen* makes, is in memory and belongs to one crawl.
    """

    def __init__(self, make_seen: Callable[[], Seen] = ExactSeen) -> None:
        super().__init__()
        self._make_seen = make_seen

    def make(self, spider: Any) -> Seen:
        return self._make_seen()

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        if request.dont_filter or self._is_new(request, self.of(spider)):
            return request
        log.debug("seen before: %s", request)
        return None

    def _is_new(self, request: Request, seen: Seen) -> bool:
        """What is no URL is always new: the frontier refuses it, and counts."""
        try:
            return seen.add(fingerprint(request, urls.canonicalize(request.url)))
        except InvalidURL:
            return True
