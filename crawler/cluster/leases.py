"""LeaseTable: which shards are ours, and which of the others may be claimed."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple


class Lease(NamedTuple):
    """A lease as Redis shows it; *token* is "" if nobody holds it."""

    token: str
    beat: str
    seq: int
    pending: str


class Renewal(NamedTuple):
    """
    The answer to a renewal: the server and the job, and all leases.

    A server *is_full* that has used more than 80 % of the memory it may use.
    """

    run: str
    life: str
    calm: str
    status: str
    now: float
    live: int
    is_full: bool
    #: How often the job was asked to restart.
    restarts: int
    leases: list[Lease]

    @classmethod
    def of(cls, answer: list[bytes | int]) -> Renewal:
        texts = [part.decode() if isinstance(part, bytes) else str(part) for part in answer]
        rest = texts[8:]
        leases = [
            Lease(rest[n], rest[n + 1] or "0", int(rest[n + 2] or 0), rest[n + 3])
            for n in range(0, len(rest), 4)
        ]
        run, life, calm, status, now, live, full, restarts = texts[:8]
        known = (run, life, calm, status, float(now), int(live), full == "1", int(restarts))
        return cls(*known, leases)


class LeaseTable:
    """
    The leases of a job, as this process has seen them.

    No clock of the server is used: a lease has expired for an observer that has seen the same
    token and beat for *ttl* seconds by its own clock, on one connection.
    """

    def __init__(self, number: int, ttl: float) -> None:
        self.ttl = ttl
        #: By shard, the token under which it is ours, and since when.
        self.mine: dict[int, tuple[str, float]] = {}
        self._seen: list[tuple[Lease, float]] = [(Lease("", "0", 0, ""), 0.0)] * number
        self._tokens = (f"{secrets.token_hex(8)}:{n}" for n in count(1))

    def new_token(self) -> str:
        """Return a token that no process ever has had."""
        return next(self._tokens)

    def tokens(self) -> list[str]:
        return [self.mine.get(number, ("", 0.0))[0] for number in range(len(self._seen))]

    def observe(self, leases: list[Lease], now: float) -> None:
        for number, lease in enumerate(leases):
            known, _ = self._seen[number]
            if (known.token, known.beat) == (lease.token, lease.beat):
                since = self._seen[number][1]
            else:
                since = now
            self._seen[number] = (lease, since)

    def forget(self, now: float) -> None:
        """Observe anew: the connection was interrupted."""
        self._seen = [(lease, now) for lease, _ in self._seen]

    def seen(self, number: int) -> Lease:
        return self._seen[number][0]

    def holds(self, number: int, token: str) -> bool:
        return number in self.mine and self.mine[number][0] == token

    def lost(self, sent: float) -> list[int]:
        """Return the shards that were ours when the last renewal was *sent*, and another's in Redis."""
        return [
            number
            for number, (token, since) in self.mine.items()
            if since < sent and self._seen[number][0].token != token
        ]

    def claimable(self, now: float) -> Iterator[int]:
        """Yield the shards that are free or expired."""
        for number, (lease, since) in enumerate(self._seen):
            if number not in self.mine and (not lease.token or now - since >= self.ttl):
                yield number

    def next_expiry(self, now: float) -> float | None:
        """Return in how many seconds the first lease of another will have expired, unless it is renewed."""
        left = (
            since + self.ttl - now
            for number, (lease, since) in enumerate(self._seen)
            if number not in self.mine and lease.token
        )
        return min((seconds for seconds in left if seconds > 0), default=None)
