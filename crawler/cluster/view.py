"""ClusterView: the figures of the shards of this process, as those of one frontier."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..frontier import HostFigures, Taken, UrlCounts
from ..frontier.contract import ShardView
from ..frontier.hosts.host import HOST_STATES


class ClusterView:
    """Implements FrontierView over the views of all shards that are held here."""

    def __init__(self, frontier: Any) -> None:
        self._frontier = frontier
        self._last: UrlCounts | None = None

    @property
    def _views(self) -> Sequence[ShardView]:
        return [shard.frontier.view for shard in self._frontier.shards.values()]

    @property
    def idle(self) -> bool:
        return bool(self._frontier.is_finished)

    @property
    def paused(self) -> bool:
        return not self._frontier.flowing.is_set()

    @property
    def retries(self) -> Counter[str]:
        return sum((view.retries for view in self._views), Counter())

    @property
    def moved(self) -> int:
        return sum(view.moved for view in self._views)

    def counts(self) -> UrlCounts:
        return self._last or total(view.counts() for view in self._views)

    def keep(self) -> None:
        """Keep the counts of this moment: the shards are given back."""
        self._last = self.counts()

    def samples(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for view in self._views:
            found |= view.samples()
        return found

    def hosts(self, most: int = 20) -> list[HostFigures]:
        all_hosts = (host for view in self._views for host in view.hosts(most))
        return heapq.nsmallest(most, all_hosts, key=lambda h: (-h.queued - h.in_flight, h.host))

    def host_states(self) -> Counter[str]:
        states = Counter(dict.fromkeys(HOST_STATES, 0))
        for view in self._views:
            states.update(view.host_states())
        return states

    def waiting_for(self) -> str:
        if self.idle:
            return "nothing: all is settled"
        if self._frontier.waits_for:
            return str(self._frontier.waits_for)
        views = [view for view in self._views if len(view)]
        if not views:
            return "pages of other schedulers"
        return min(views, key=lambda view: view.next_wake() or 0.0).waiting_for()

    def resting(self) -> str:
        views = [view for view in self._views if len(view)]
        return min(views, key=lambda view: view.next_wake() or 0.0).resting() if views else ""

    def next_wake(self) -> float | None:
        times = [wake for view in self._views if (wake := view.next_wake()) is not None]
        return min(times, default=None)

    def is_alone(self, taken: Taken) -> bool:
        return all(view.is_alone(taken) for view in self._views)

    def __len__(self) -> int:
        return sum(map(len, self._views))


def total(all_counts: Any) -> UrlCounts:
    """Return the sum of the counts of several shards."""
    numbers: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {"failed": Counter(), "refused": Counter()}
    reasons["turned_away"] = Counter()
    for counts in all_counts:
        values: Mapping[str, Any] = counts if isinstance(counts, dict) else _values(counts)
        for name, value in values.items():
            if name in reasons:
                reasons[name].update(value)
            else:
                numbers[name] += value
    found: dict[str, Any] = {name: dict(counter) for name, counter in reasons.items()}
    return UrlCounts(**found | dict(numbers))


def _values(counts: UrlCounts) -> dict[str, Any]:
    return {name: getattr(counts, name) for name in UrlCounts.__slots__}
