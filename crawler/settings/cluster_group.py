"""ClusterGroup: the settings of a cluster's jobs."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_SECONDS, _MOST_SHARDS = 600.0, 1024


@dataclass(frozen=True)
class ClusterGroup:
    """
    Where jobs are kept, and what a new one is like.

    *redis* is the URL of the server, which may have a password; *ttl* is how many seconds a lease lasts.
    """

    redis: str | None = None
    ttl: float = 10.0
    shards: int = 32

    def __post_init__(self) -> None:
        if not 1 <= self.ttl <= _MOST_SECONDS:
            raise ValueError(f"ttl must be from 1 to {_MOST_SECONDS:g} seconds, not {self.ttl!r}")
        if not 1 <= self.shards <= _MOST_SHARDS:
            raise ValueError(f"shards must be from 1 to {_MOST_SHARDS}, not {self.shards!r}")
