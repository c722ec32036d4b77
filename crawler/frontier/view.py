"""View: what waits, what is due next and when, in figures and in words."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any

from .._give_way import give_way
from .._words import counted
from .contract import Taken
from .hosts.host import HOST_STATES, HostFigures
from .ledger import UrlCounts
from .parts import Parts

#: The number of hosts among which one that stands for the others is searched, and that are
#: counted at a time.
_MOST_HOSTS = 1000


class View:
    """Implements FrontierView of contract.py."""

    def __init__(self, parts: Parts, moved: Mapping[str, str]) -> None:
        self.retries: Counter[str] = Counter()
        #: How many requests are between take() and their end.
        self.taken = 0
        self._ledger = parts.ledger
        self._waiting = parts.waiting
        self._hosts = parts.hosts
        self._politeness = parts.rules.politeness
        self._spending = parts.spending
        self._flowing = parts.flowing
        self._clock = parts.clock
        self._moved = moved

    def recall(self, figures: Mapping[str, Any]) -> None:
        """Continue to count from the *figures* of an earlier process."""
        # A job that an older version has written knows only how many there were.
        of_any_kind = +Counter({"": figures.get("retried", 0)})
        self.retries.update(figures.get("retries") or of_any_kind)

    @property
    def idle(self) -> bool:
        return not self._ledger.pending

    @property
    def begun(self) -> int:
        """How many pages were begun."""
        return self._spending.begun

    @property
    def moved(self) -> int:
        return len(self._moved)

    @property
    def paused(self) -> bool:
        return not self._flowing.is_set()

    def __len__(self) -> int:
        return len(self._waiting)

    def counts(self) -> UrlCounts:
        return self._ledger.counts()

    def samples(self) -> dict[str, list[str]]:
        return {reason: list(urls) for reason, urls in self._ledger.samples.items()}

    def is_alone(self, taken: Taken) -> bool:
        return self._hosts.shares.is_alone(taken.host, self._clock())

    def hosts(self, most: int = 20) -> list[HostFigures]:
        now = self._clock()
        busiest = heapq.nsmallest(
            most, self._hosts, key=lambda h: (-h.queued - h.in_flight, h.name)
        )
        return [self._hosts.figures(host, now) for host in busiest]

    def host_states(self) -> Counter[str]:
        states, now = Counter(dict.fromkeys(HOST_STATES, 0)), self._clock()
        for number, host in enumerate(list(self._hosts), start=1):
            states[host.state(now)] += 1
            if not number % _MOST_HOSTS:
                give_way()
        return states

    def waiting_for(self) -> str:
        if self.idle:
            return "nothing: all is settled"
        if self.paused:
            return "resume(): the crawl is paused"
        if not self._hosts.queued:
            return f"{counted(self.taken, 'request')} in flight or being analysed"
        due = self._hosts.first()
        if due is not None:
            when, name, why = due
            return f"{name} ({why or 'due'}), in {max(0.0, when - self._clock()):.1f} s"
        held = [host for host in self._hosts if host.queued and (host.paused or host.parked)]
        named = (f"{h.name} ({'paused' if h.paused else h.parked})" for h in held[:3])
        return ", ".join(named) or self._hosts.shares.held_for or "a free downloader"

    def resting(self) -> str:
        now = self._clock()
        due = self._hosts.first()
        if self._hosts.shares.holds_back and (due is None or due[0] > now):
            return self._hosts.shares.held_for
        if due is None:
            return self._why_limited()
        if now < self._spending.free_at:
            return "bandwidth"
        host = self._hosts.find(due[1])
        if due[0] <= now or host is None:
            return ""
        return due[2] if due[2] == "address" else self._politeness.why_resting(host)

    def next_wake(self) -> float | None:
        due = self._hosts.first()
        return None if due is None else max(0.0, due[0] - self._clock())

    def _why_limited(self) -> str:
        """Return why hosts that have all the requests they may have do not get more."""
        some = islice(self._hosts, _MOST_HOSTS)
        limited = (
            self._politeness.why_limited(host) for host in some if host.in_flight and host.queued
        )
        return next(limited, "")
