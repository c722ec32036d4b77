"""FailingOrigin: an origin that fails. DeadOrigins: those that were given up."""

from __future__ import annotations

#: How many URLs of an origin that answer 503 are distinguished.
_MOST_URLS = 64
#: How many origins that were given up are remembered.
_MOST_DEAD = 10_000


class FailingOrigin:
    """
    The failures in a row of one origin: its next success ends them.

    Hosts are treated politely as a whole, but fail by origin: one port may be dead while
    another answers. Until *rests_until*, because of *why*, the requests of the origin alone
    are put off.
    """

    __slots__ = (
        "failures",
        "host_rests_until",
        "put_off",
        "rests_until",
        "robots_attempts",
        "unavailable",
        "why",
    )

    def __init__(self) -> None:
        self.failures = 0
        self.rests_until = 0.0
        self.why = ""
        #: How many requests were put off since it began to rest.
        self.put_off = 0
        #: How many fetches of its robots.txt have failed in a row.
        self.robots_attempts = 0
        #: The URLs that have answered 503.
        self.unavailable: set[int] = set()
        #: Until when its host rests for its sake alone.
        self.host_rests_until = 0.0

    def rest(self, until: float, why: str) -> None:
        self.why = why
        if until > self.rests_until:
            self.rests_until = until
            self.put_off = 0

    def add_unavailable(self, url: str) -> bool:
        """Note that *url* has answered 503; return whether it is the first time."""
        key = hash(url)
        if key in self.unavailable:
            return False
        if len(self.unavailable) < _MOST_URLS:
            self.unavailable.add(key)
        return True


class DeadOrigins(dict[str, str]):
    """By origin that was given up, the reason; of too many, the first is forgotten."""

    def add(self, origin: str, reason: str) -> None:
        self[origin] = reason
        if len(self) > _MOST_DEAD:
            del self[next(iter(self))]
