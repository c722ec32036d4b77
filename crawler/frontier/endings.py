"""Endings: ends one request, all that wait for a host, or all there are."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..data import Request
from .budget import PAGE_LIMIT
from .hosts.host import Host
from .outcome import Outcome, failed, refused
from .parts import Parts

log = logging.getLogger(__name__)


class Endings:
    """Ends single requests, those of a host that is given up, and all when a limit is reached."""

    def __init__(self, parts: Parts) -> None:
        self._events = parts.events
        self._admission = parts.admission
        self._accounts = parts.accounts
        self._spending = parts.spending
        self._waiting = parts.waiting
        self._queues = parts.queues
        self._hosts = parts.hosts
        self._backoff = parts.backoff

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

    def cut_off(self, reason: str) -> None:
        """Let nothing more in, and refuse all that waits; a limit of pages spares those begun."""
        if self._admission.shut_for_begun is not None or self._admission.shut == reason:
            return
        self._admission.shut = reason
        drain = self._waiting.drain_new if reason == PAGE_LIMIT else self._waiting.drain
        for host in list(self._hosts):
            self._drop_all(drain(host), refused(reason))

    def check_budget(self) -> None:
        reason = self._spending.used_up
        if reason is not None:
            self.cut_off(reason)

    def give_up(self, host: Host) -> bool:
        """Fail all that waits for *host* if it has failed too often in a row; return whether."""
        if not self._backoff.is_hopeless(host):
            return False
        log.warning("gave up %s after %d failures in a row", host.name, host.failures)
        self._queues.dead.add(host.name)
        self._drop_all(self._waiting.drain(host), failed("host"))
        return True

    def _drop_all(self, requests: Iterable[Request], outcome: Outcome) -> None:
        for request in requests:
            self.drop(request, outcome)
