"""SchedulerFigures: what one scheduler has sent, received and lost, and how Redis answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .member import Member


@dataclass(frozen=True)
class SchedulerFigures:
    """The figures of a process since it has joined a job."""

    #: Whether Redis has answered when it was asked last.
    is_up: bool
    #: How many shards were another's when this process wrote to them, or renewed their leases.
    fenced: int
    #: How often it went on after its leases might have run out.
    rejoins: int
    links_sent: int
    #: By result: admitted, or turned_away.
    links_received: Mapping[str, int]
    #: By script, how long the calls took: see Durations.
    calls: Mapping[str, Mapping[str, Any]]


def scheduler_figures(member: Member) -> SchedulerFigures:
    """Return the figures of *member*, which works on its job."""
    calls = sorted(member.server.durations.items())
    return SchedulerFigures(
        is_up=member.server.away_since is None,
        fenced=member.held.fenced,
        rejoins=member.leases.rejoins,
        links_sent=member.held.commits.links_sent,
        links_received=dict(member.inboxes.received),
        calls={script: durations.figures() for script, durations in calls},
    )
