"""PageLinks: how many links and requests of one page are admitted."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace

from ..data import Links, Request
from ..frontier import FrontierContract
from .visits import Visit

log = logging.getLogger(__name__)


class PageLinks:
    """
    Admits what is found on a page, up to *most* links and requests; the others are counted.

    It is logged once that a page has too many.
    """

    def __init__(self, frontier: FrontierContract, most: int | None) -> None:
        self._frontier = frontier
        self._most = sys.maxsize if most is None else most
        self._is_logged = False

    def admit_many(self, visit: Visit, links: Links) -> None:
        if links.refusal == "scheme":
            self._frontier.leave_out(links, visit.taken)
            return
        visit.links += len(links.urls)
        if visit.links <= self._most:
            self._frontier.admit_many(links, visit.taken)
            return
        room = max(0, len(links.urls) - (visit.links - self._most))
        if room:
            self._frontier.admit_many(replace(links, urls=links.urls[:room]), visit.taken)
        self._leave_out(visit, links.urls[room:])

    def admit(self, visit: Visit, request: Request) -> None:
        visit.links += 1
        if visit.links <= self._most:
            self._frontier.admit(request, visit.taken)
        else:
            self._leave_out(visit, [request.url])

    def _leave_out(self, visit: Visit, urls: list[str]) -> None:
        page = visit.request
        links = Links(urls, page.next_depth, page.url, "link_limit")
        self._frontier.leave_out(links, visit.taken)
        if not self._is_logged:
            self._is_logged = True
            log.warning(
                "%s has more than %d links and requests: the others are left out and counted, "
                "as those of all such pages; max_links_per_page changes that",
                *(visit.request.url, self._most),
            )
