"""Endings: ends one request, gives an origin up, or ends all that waits."""

from __future__ import annotations

import logging
from collections.abc import Generator
from itertools import islice

import gevent

from .._give_way import give_way
from ..data import Request
from .budget import PAGE_LIMIT
from .hosts.host import Host
from .outcome import Outcome, refused
from .parts import Parts

log = logging.getLogger(__name__)

#: How many requests or hosts are looked at before other greenlets run.
PER_TURN = 16


class Endings:
    """Ends single requests, and all when a limit is reached; and gives up origins that fail."""

    def __init__(self, parts: Parts) -> None:
        self._events = parts.events
        self._admission = parts.admission
        self._accounts = parts.accounts
        self._journal = parts.journal
        self._spending = parts.spending
        self._waiting = parts.waiting
        self._queues = parts.queues
        self._hosts = parts.hosts
        self._backoff = parts.backoff
        self._refusals: Generator[None] | None = None

    def end(
        self, request: Request, outcome: Outcome, answer: tuple[int, int, float] | None = None
    ) -> None:
        self._accounts.end(request, outcome, answer)
        if outcome.status == "failed":
            self.check_budget()

    def drop(self, request: Request, outcome: Outcome) -> None:
        """End *request*, which was not taken."""
        self.end(request, outcome)
        self._events.on_drop(request, outcome)

    def check_budget(self) -> None:
        reason = self._spending.used_up
        if reason is not None:
            self.cut_off(reason)

    def close(self) -> None:
        """Refuse no more of what waits."""
        if self._refusals is not None:
            self._refusals.close()

    # -- all that waits -----------------------------------------------------------------------

    def cut_off(self, reason: str) -> None:
        """
        Let nothing more in, and refuse all that waits; a limit of pages spares those begun.

        What waits is refused a part at a time, the first part at once. Meanwhile nothing of the
        rest is fetched: what takes it out of its queue refuses it too.
        """
        if self._admission.shut_for_begun is not None or self._admission.shut == reason:
            return
        self._admission.shut = reason
        self.close()
        refusals = self._refuse_all(refused(reason), spare_begun=reason == PAGE_LIMIT)
        self._refusals = refusals
        if sum(1 for _ in islice(refusals, PER_TURN)) == PER_TURN:
            gevent.spawn(self._refuse_rest, refusals)

    def _refuse_all(self, outcome: Outcome, *, spare_begun: bool) -> Generator[None]:
        """Refuse one request more, or look at one host more, each time that this is advanced."""
        for host in list(self._hosts):
            for request in self._waiting.drain(host, spare_begun=spare_begun):
                self.drop(request, outcome)
                yield
            yield

    def _refuse_rest(self, refusals: Generator[None]) -> None:
        has_more = True
        while has_more:
            give_way()
            self._journal.wait_for_room()
            has_more = sum(1 for _ in islice(refusals, PER_TURN)) == PER_TURN

    # -- an origin ----------------------------------------------------------------------------

    def give_up(self, host: Host, origin: str, why: str, now: float) -> bool:
        """
        Give *origin* up if it has failed too often in a row, the last time *why*; return whether.

        What waits for it fails when it is taken next.
        """
        failing = host.failing.get(origin) if host.failing else None
        if failing is None or not self._backoff.is_hopeless(failing.failures):
            return False
        reason = f"{origin} failed {failing.failures} times in a row, the last time: {why}"
        log.warning("%s; it is given up", reason)
        self._queues.dead.add(origin, reason)
        self._backoff.give_up(host, origin, now)
        self._queues.wake_after(host)
        return True
