"""Restorer: takes requests back from disk, where this process or an earlier one has put them."""

from __future__ import annotations

from collections.abc import Iterator

from ..data import Link, Request
from ..url import without_fragment
from .admission.link_filter import OUT_OF_SCOPE
from .durable.journal import Restored
from .endings import Endings
from .hosts.host import Host, HostFacts
from .hosts.robots_cache import RobotsCache
from .outcome import refused
from .parts import Parts


class Restorer:
    """
    Takes in what comes from disk.

    A request for which a limit has been reached, or which is out of the present scope, ends here.
    """

    def __init__(self, parts: Parts, endings: Endings) -> None:
        self._admission = parts.admission
        self._accounts = parts.accounts
        self._waiting = parts.waiting
        self._queues = parts.queues
        self._hosts = parts.hosts
        self._backoff = parts.backoff
        self._journal = parts.journal
        self._endings = endings

    def recall(self, restored: Restored, robots: RobotsCache, now: float) -> None:
        """Apply what is known of hosts and origins: their failures, rests and robots.txt."""
        for facts in restored.hosts:
            self._recall_host(facts, now)
        for answer in restored.robots:
            robots.recall(answer, now)

    def _recall_host(self, facts: HostFacts, now: float) -> None:
        """Apply what is known of one; formats before had failures by host, which begin anew."""
        if not facts.is_of_origin:
            if facts.seconds > 0:
                host = self.host_named(facts.name)
                self._backoff.recall_rest(host, facts, now)
                self._hosts.schedule(host, now)
        elif self._backoff.is_hopeless(facts.failures):
            reason = f"{facts.name} failed {facts.failures} times in a row ({facts.why})"
            self._queues.dead.add(facts.name, reason)
        elif facts.failures:
            host = self._queues.host_of(facts.name)
            self._backoff.recall(host, facts, now)
            self._hosts.schedule(host, now)

    def out_of_scope(self) -> Iterator[Link]:
        """Yield the links that were out of an earlier scope: they do not count as turned away now."""
        counts = self._accounts.ledger.turned_away
        for link, reason in list(self._journal.turned_away_before()):
            if reason in OUT_OF_SCOPE:
                counts[reason] -= 1
                yield link
        for reason in [reason for reason, number in counts.items() if number <= 0]:
            del counts[reason]

    # -- what an overflow asks for ----------------------------------------------------------------

    def bring_back(self, request: Request, host: Host | None = None) -> None:
        if "#" in request.url:  # earlier formats have kept the fragments
            request = request.replace(url=without_fragment(request.url))
        scope = self._admission.scope
        reason = self._admission.stops(request) or scope.refusal(request.url, request.depth)
        if reason is not None:
            self._endings.drop(request, refused(reason))
            return
        if host is not None:
            self._waiting.put(host, request)
        else:
            self._queues.put(self._queues.host_of(request.url), request)

    def set_aside(self, url: str) -> None:
        self._accounts.set_aside(url)

    def host_named(self, name: str) -> Host:
        return self._queues.host_named(name)

    def host_of(self, url: str) -> Host:
        return self._queues.host_of(url)

    @property
    def in_memory(self) -> int:
        return self._hosts.queued

    @property
    def hosts(self) -> int:
        return len(self._hosts)

    def forget_last(self, host: Host, last: Request) -> bool:
        return self._queues.forget_last(host, last)
