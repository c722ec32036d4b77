"""Duplicates: drops requests that a crawl has made before."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ... import url as urls
from ...data import Request, Response
from ...errors import InvalidURL
from ...frontier.admission.fingerprint import Fingerprint
from ...frontier.admission.seen import ExactSeen, Seen
from .per_spider import PerSpider

log = logging.getLogger(__name__)


class Duplicates(PerSpider[Seen]):
    """
    Drops requests that the spider has made before, unless they have ``dont_filter``.

    Requests with ``dont_filter`` are not remembered either. Place it first in the list, nearest
    to the engine: a request that a middleware above it drops would count as seen. The frontier
    has its own set, which includes redirects and survives a crash; the set of this middleware,
    made by *make_seen*, is in memory and belongs to one crawl. A set that outlives the crawl
    needs a *fingerprint* with a key that does so too.
    """

    def __init__(
        self, make_seen: Callable[[], Seen] = ExactSeen, fingerprint: Fingerprint | None = None
    ) -> None:
        super().__init__()
        self._make_seen = make_seen
        self._fingerprint = fingerprint or Fingerprint()

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
        """Return whether *request* is new; an invalid URL always is: the frontier refuses it."""
        try:
            return seen.add(self._fingerprint(request, urls.canonicalize(request.url)))
        except InvalidURL:
            return True
