"""Verdict: what holds a crawl up, and which setting would change that."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..buffer import PoolFigures
    from ..module import ModuleSummary
    from ..scheduler import Summary

#: From this share of one core on, the CPU is the limit.
_BUSY = 0.8
#: How many moments the present verdict looks back.
_RECENT = 12


@dataclass(frozen=True)
class Limit:
    """*what* a crawl waits for, and what to do about it; *setting* is empty if none helps."""

    name: str
    what: str
    setting: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}" if self.remedy else self.what


def _set(name: str, what: str, setting: str, effect: str) -> Limit:
    return Limit(name, what, setting, f"-s {setting}=… {effect}")


NOTHING = Limit("nothing", "nothing in particular", "", "")
IDLE = Limit("idle", "nothing: all is done", "", "")
PAUSED = Limit("paused", "whoever paused it", "", "it goes on when resumed")
PIPELINE = _set("pipeline", "the pipeline", "pipeline_workers", "processes more items at a time")
CPU = _set(
    "cpu",
    "the CPU: one core is busy",
    "analyzers",
    "parses in other processes, or lighter callbacks",
)
ANALYSIS = _set(
    "analysis", "callbacks that wait for something", "analyze_workers", "runs more at a time"
)
CONCURRENCY = _set(
    "concurrency", "the number of requests in flight, in all", "concurrency", "allows more"
)
PER_HOST = _set(
    "per_host", "the number of requests in flight to one host", "per_host", "allows more"
)
SERVERS = _set(
    "servers", "servers: all pages known so far are asked for", "timeout", "is the longest wait"
)
FAILING = _set(
    "failing", "hosts that rest after they failed", "politeness.backoff", "is the first rest"
)
THROTTLED = _set(
    "throttled",
    "hosts that want to rest (429 or 503)",
    "per_host",
    "is what they are asked at a time",
)

#: What the frontier calls the rest of a host; every other name is how a fetch failed.
_RESTS = {
    "delay": _set("delay", "the delay between requests to one host", "delay", "shortens it"),
    "latency": _set(
        "latency",
        "rests of hosts, as long as their latency",
        "politeness.latency_factor",
        "shortens them",
    ),
    "crawl-delay": Limit(
        "crawl-delay", "the Crawl-delay of a robots.txt", "", "it is what the host asks for"
    ),
    "bandwidth": _set("bandwidth", "the bandwidth it may use", "bandwidth", "allows more"),
    "retry": _set("retry", "the time until a retry", "retries.wait", "shortens it"),
    "address": _set(
        "address", "hosts that share an address", "politeness.per_ip", "allows more at a time"
    ),
    "robots.txt": _set(
        "robots.txt",
        "hosts whose robots.txt cannot be had",
        "politeness.throttle",
        "is the first rest",
    ),
    "429": THROTTLED,
    "503": THROTTLED,
}


def limit_of(before: Summary, now: Summary) -> Limit:
    """Say what held the crawl up between two moments of it: the first of these that did."""
    return next((limit for holds, limit in _CHECKS if holds(before, now)), _waits_for(now))


def _waits_for(now: Summary) -> Limit:
    """Say what a crawl waits for that has room for more requests."""
    if now.resting:
        return _RESTS.get(now.resting, FAILING)
    fetching = _handling(now.downloaders)
    if not fetching:
        return NOTHING if now.queued else _waits_inside(now)
    if not now.queued:
        return SERVERS
    return PER_HOST if now.next_wake is None else NOTHING


def _waits_inside(now: Summary) -> Limit:
    if _handling(now.analyzers):
        return ANALYSIS
    return PIPELINE if _handling(now.pipelines) else NOTHING


def _cpu_is_full(before: Summary, now: Summary) -> bool:
    return now.cpu - before.cpu >= _BUSY * (now.elapsed - before.elapsed) > 0


def _pipeline_is_full(_: Summary, now: Summary) -> bool:
    return _behind(now.item_pool, now.pipelines, now.module_args["pipeline_workers"])


def _analysis_is_full(_: Summary, now: Summary) -> bool:
    return _behind(now.response_pool, now.analyzers, now.module_args["analyze_workers"])


def _slots_are_full(_: Summary, now: Summary) -> bool:
    full = _handling(now.downloaders) >= now.module_args["download_workers"]
    return full and now.queued > 0 and now.next_wake == 0


_CHECKS: tuple[tuple[Callable[[Summary, Summary], bool], Limit], ...] = (
    (lambda _, now: not now.urls.pending, IDLE),
    (lambda _, now: now.paused, PAUSED),
    (_pipeline_is_full, PIPELINE),
    (_cpu_is_full, CPU),
    (_analysis_is_full, ANALYSIS),
    (_slots_are_full, CONCURRENCY),
)


def _behind(pool: PoolFigures, modules: Iterable[ModuleSummary], workers: int) -> bool:
    """Say if data wait because all *workers* are busy, or the pool has no room."""
    full = pool.total >= pool.buffer_cap * pool.max_buffer_number
    return full or (pool.total > 0 and _handling(modules) >= workers)


def _handling(modules: Iterable[ModuleSummary]) -> int:
    return sum(module.handling for module in modules)


class Tally:
    """How many seconds each limit has held a crawl up, and which one does at present."""

    def __init__(self) -> None:
        self._seconds: Counter[Limit] = Counter()
        self._recent: deque[Limit] = deque(maxlen=_RECENT)

    def add(self, before: Summary, now: Summary) -> None:
        limit = limit_of(before, now)
        self._recent.append(limit)
        if limit is not IDLE:
            self._seconds[limit] += now.elapsed - before.elapsed  # type: ignore[assignment]

    @property
    def present(self) -> Limit:
        """The one most often met of late; the last of those met equally often."""
        return max(reversed(self._recent), key=self._recent.count, default=NOTHING)

    @property
    def whole(self) -> tuple[Limit, float]:
        """What held the crawl up for longest, and the share of the time (0 to 1) it did."""
        if not self._seconds:
            return NOTHING, 0.0
        [(limit, seconds)] = self._seconds.most_common(1)
        return limit, seconds / max(sum(self._seconds.values()), 1e-9)
