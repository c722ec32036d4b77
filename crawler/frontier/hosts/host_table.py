"""HostTable: the hosts that are known, and when an idle one is forgotten."""

from __future__ import annotations

import heapq
import itertools

from .host import NEVER, Host


class HostTable:
    """
    The known hosts, by name. A host with nothing to do is forgotten once it has rested.

    An idle host has one entry on a heap, at the time it may be forgotten. If that time has
    become later, the entry is corrected when it comes up.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, Host] = {}
        self._idle: list[tuple[float, int, Host]] = []
        self._numbers = itertools.count()

    def find_or_add(self, name: str) -> Host:
        host = self.by_name.get(name)
        if host is None:
            host = self.by_name[name] = Host(name)
        return host

    def forget_when_idle(self, host: Host, now: float) -> None:
        """Forget *host*, which has nothing to do: now, or when it has rested."""
        due = host.forgettable_at
        if due <= now:
            # The name may belong to a newer record of the same host.
            if self.by_name.get(host.name) is host:
                del self.by_name[host.name]
        elif due < NEVER:
            host.forget_at = due
            heapq.heappush(self._idle, (due, next(self._numbers), host))

    def forget_idle(self, now: float) -> None:
        """Forget the hosts that have had nothing to do for long enough."""
        while self._idle and self._idle[0][0] <= now:
            _, _, host = heapq.heappop(self._idle)
            host.forget_at = NEVER
            if not host.has_work:
                self.forget_when_idle(host, now)
