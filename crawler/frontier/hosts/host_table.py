"""HostTable: the hosts that are known, and when an idle one is forgotten."""

from __future__ import annotations

import heapq
import itertools
from weakref import WeakValueDictionary

from ...url import registered_domain
from .host import NEVER, Domain, Host
from .slot_shares import SLOW

#: Of so many hosts that were forgotten it is known how quick they were.
_MOST_TIMES = 4096


class HostTable:
    """
    The known hosts, by name. A host with nothing to do is forgotten once it has rested.

    An idle host has one entry on a heap, at the time it may be forgotten. If that time has
    become later, the entry is corrected when it comes up. How quick it was is remembered for
    longer: a host often has nothing to do while its last page is analysed.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, Host] = {}
        self._idle: list[tuple[float, int, Host]] = []
        self._numbers = itertools.count()
        self._domains: WeakValueDictionary[str, Domain] = WeakValueDictionary()
        self._usual_times: dict[str, float] = {}

    def find_or_add(self, name: str) -> Host:
        host = self.by_name.get(name)
        if host is None:
            host = self.by_name[name] = Host(name, self._domain_of(name))
            host.usual_time = self._usual_times.pop(name, NEVER)
            host.domain.usual_time = min(host.domain.usual_time, host.usual_time)
        return host

    def forget_when_idle(self, host: Host, now: float) -> None:
        """Forget *host*, which has nothing to do: now, or when it has rested."""
        due = host.forgettable_at
        if due <= now:
            # The name may belong to a newer record of the same host.
            if self.by_name.get(host.name) is host:
                del self.by_name[host.name]
                self._remember_time(host)
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

    def _domain_of(self, name: str) -> Domain:
        key = registered_domain(name)
        domain = self._domains.get(key)
        if domain is None:
            domain = self._domains[key] = Domain()
        return domain

    def _remember_time(self, host: Host) -> None:
        if host.usual_time <= SLOW:
            self._usual_times[host.name] = host.usual_time
            if len(self._usual_times) > _MOST_TIMES:
                del self._usual_times[next(iter(self._usual_times))]
