"""Accounts: every decision about a URL, counted in the ledger and recorded in the journal."""

from __future__ import annotations

from collections.abc import Callable

from gevent.event import Event

from ..data import Link, Request, new_id
from ..errors import InvalidURL
from .admission.recent_numbers import RecentNumbers
from .durable.journal import Journal, NearerFind, PageEnd
from .hosts.host import Host
from .ledger import Ledger
from .outcome import Outcome, failed

#: The number of URLs whose depth is known.
_MOST_DEPTHS = 4_096


class Accounts:
    """
    Counts and records what becomes of URLs: no other part of a frontier does either.

    *idle* is set while nothing is outstanding.
    """

    def __init__(self, ledger: Ledger, journal: Journal, host_name: Callable[[str], str]) -> None:
        self.ledger = ledger
        self.idle = Event()
        self._journal = journal
        self._host_name = host_name
        #: The ids of the outstanding requests that were admitted as such, and not as links.
        self._ids: set[str] = set()
        #: By fingerprint, the smallest depth of the URLs admitted last; and those found nearer.
        self._depths = RecentNumbers(_MOST_DEPTHS)
        self._nearer = RecentNumbers(_MOST_DEPTHS)
        self._check_idle()

    def admit(
        self, found: Request | Link, key: bytes, host: Host, awaited_by: str | None
    ) -> Request | Link:
        """Count *found*; return it as it is to wait, with an id that no outstanding one has."""
        if isinstance(found, Request) and found.id in self._ids:
            found = found.replace(id=new_id())
        waits = self._journal.admitted(found, key, host.name, awaited_by)
        if isinstance(found, Request) and isinstance(waits, Request):
            self._ids.add(waits.id)
        self._depths.least(key, found.depth)
        self.ledger.admit()
        self.idle.clear()
        return waits

    def turn_away(self, found: Request | Link, reason: str) -> None:
        self.ledger.turn_away(reason, found.url)
        if reason != "seen":
            self._journal.turned_away(found, reason, self._name_of(found.url))

    def leave_out(self, urls: list[str], reason: str) -> None:
        """Turn *urls* away without a record of each: there may be very many of them."""
        self.ledger.turned_away[reason] += len(urls)
        self.ledger.sample(reason, urls[0])

    def found_again(self, found: Request | Link, key: bytes, *, is_moved: bool) -> None:
        """Note the depth of *found*, if it is new; a request that *is_moved* is fetched at it."""
        depth = self._depths.get(key)
        if depth is None or found.depth >= depth:
            return
        self._depths.least(key, found.depth)
        if not is_moved:
            self.ledger.found_nearer += self._nearer.add(key) == 1
            self._journal.learned(NearerFind(key, found.depth, found.found_on))

    def cut_off(self, found: Request | Link, reason: str, awaited_by: str | None) -> None:
        """Turn *found* away because the crawl takes nothing more."""
        self.ledger.turn_away(reason, found.url)
        if awaited_by is None:
            self._journal.cut_off(found, reason, self._name_of(found.url))

    def move_in(self, hop: Request, key: bytes, host: Host) -> Request:
        """Count *hop*, which another frontier has counted until now; return it as it is to wait."""
        waits = self._journal.admitted(hop, key, host.name, None)
        self.ledger.admit()
        self.idle.clear()
        return waits if isinstance(waits, Request) else hop

    def move_out(self, hop: Request) -> None:
        """Count *hop* no more: another frontier does."""
        self._ids.discard(hop.id)
        self.ledger.move_out()
        self._check_idle()

    def end(
        self, request: Request, outcome: Outcome, answer: tuple[int, int, float] | None = None
    ) -> None:
        self._ids.discard(request.id)
        self._journal.ended(PageEnd(request, outcome, answer))
        self.ledger.settle(outcome, request.redirects[0] if request.redirects else request.url)
        self._check_idle()

    def set_aside(self, url: str) -> None:
        """Count the end of a request that the journal could not read."""
        self.ledger.settle(failed("damaged"), url)
        self._check_idle()

    def _check_idle(self) -> None:
        if not self.ledger.pending:
            self.idle.set()

    def _name_of(self, url: str) -> str:
        try:
            return self._host_name(url)
        except InvalidURL:
            return ""
