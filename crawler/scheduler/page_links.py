"""PageLinks: how many links and requests of one page are admitted."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace

from .._give_way import give_way
from ..data import Links, Request
from ..frontier import FrontierContract
from .visits import Visit

log = logging.getLogger(__name__)

#: Links of a page with many that are admitted at a time: each may take some 30 microseconds.
_SOME = 32


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
        """Admit *links*; if *visit* had some before, other greenlets run after every few of them."""
        if links.refusal == "scheme":
            self._frontier.leave_out(links, visit.taken)
            return
        room = self._most - visit.links
        number = len(links.urls)
        some = _SOME if visit.links else number
        visit.links += number
        if number <= min(room, some):
            self._frontier.admit_many(links, visit.taken)
            return
        for start in range(0, min(room, number), some):
            urls = links.urls[start : min(start + some, room)]
            self._frontier.admit_many(replace(links, urls=urls), visit.taken)
            give_way()
        if room < number:
            self._leave_out(visit, links.urls[max(0, room) :])

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
