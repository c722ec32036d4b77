"""What limits the speed of a crawl, and which setting would change that."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..buffer import PoolFigures
    from ..module import ModuleSummary
    from ..scheduler import Summary

#: The CPU is the bottleneck if the process uses at least this share of one core.
_BUSY = 0.8
#: The number of recent moments that decide the current bottleneck.
_RECENT = 12


@dataclass(frozen=True)
class Bottleneck:
    """
    One thing that can limit a crawl: *what* it waits for, and the *remedy*.

    *setting* is the setting that changes it; it is empty if there is none.
    """

    name: str
    what: str
    setting: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}" if self.remedy else self.what


def _with_setting(name: str, what: str, setting: str, effect: str) -> Bottleneck:
    return Bottleneck(name, what, setting, f"-s {setting}=… {effect}")


NOTHING = Bottleneck("nothing", "nothing in particular", "", "")
IDLE = Bottleneck("idle", "nothing: all is done", "", "")
PAUSED = Bottleneck("paused", "a pause", "", "it continues when it is resumed")
PIPELINE = _with_setting(
    "pipeline", "the pipeline", "pipeline_workers", "processes more items at a time"
)
CPU = _with_setting(
    "cpu",
    "the CPU: one core is busy",
    "analyzers",
    "parses in other processes; lighter callbacks help too",
)
ANALYSIS = _with_setting(
    "analysis", "callbacks that wait for something", "analyze_workers", "runs more at a time"
)
CONCURRENCY = _with_setting(
    "concurrency", "the total number of requests in flight", "concurrency", "allows more"
)
PER_HOST = _with_setting(
    "per_host", "the number of requests in flight to one host", "per_host", "allows more"
)
SERVERS = _with_setting(
    "servers",
    "the servers: all known pages are requested",
    "timeout",
    "sets the longest wait",
)
FAILING = _with_setting(
    "failing", "hosts that back off after failures", "politeness.backoff", "sets the first back-off"
)
THROTTLED = _with_setting(
    "throttled",
    "hosts that asked for fewer requests (429 or 503)",
    "per_host",
    "sets how many requests a host gets at a time",
)

#: By the reason that the frontier gives for the wait of a host; any other reason is a failed fetch.
_WAITS = {
    "delay": _with_setting(
        "delay", "the delay between requests to one host", "delay", "shortens it"
    ),
    "latency": _with_setting(
        "latency",
        "delays of hosts, which follow their latency",
        "politeness.latency_factor",
        "shortens them",
    ),
    "crawl-delay": Bottleneck(
        "crawl-delay", "the Crawl-delay of a robots.txt", "", "the host asks for it"
    ),
    "bandwidth": _with_setting("bandwidth", "the bandwidth limit", "bandwidth", "raises it"),
    "retry": _with_setting("retry", "the wait before a retry", "retries.wait", "shortens it"),
    "address": _with_setting(
        "address", "hosts that share an IP address", "politeness.per_ip", "allows more at a time"
    ),
    "slow hosts": _with_setting(
        "slow hosts",
        "slow hosts, which have their share of the requests in flight",
        "concurrency",
        "allows more",
    ),
    "large pages": _with_setting(
        "large pages",
        "large pages, which are analysed one after another",
        "analyzers",
        "parses in other processes",
    ),
    "robots.txt": _with_setting(
        "robots.txt",
        "hosts whose robots.txt cannot be fetched",
        "politeness.throttle",
        "sets the first wait",
    ),
    "429": THROTTLED,
    "503": THROTTLED,
}


def find_bottleneck(before: Summary, now: Summary) -> Bottleneck:
    """Return what limited the crawl between two moments: the first of _CHECKS that holds."""
    found = (bottleneck for holds, bottleneck in _CHECKS if holds(before, now))
    return next(found, None) or _waits_for(now)


def _waits_for(now: Summary) -> Bottleneck:
    """Return what a crawl waits for although it has room for more requests."""
    if now.resting:
        return _WAITS.get(now.resting, FAILING)
    fetching = _handling(now.downloaders)
    if not fetching:
        return NOTHING if now.queued else _waits_inside(now)
    if not now.queued:
        return SERVERS
    return PER_HOST if now.next_wake is None else NOTHING


def _waits_inside(now: Summary) -> Bottleneck:
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


_CHECKS: tuple[tuple[Callable[[Summary, Summary], bool], Bottleneck], ...] = (
    (lambda _, now: not now.urls.pending, IDLE),
    (lambda _, now: now.paused, PAUSED),
    (_pipeline_is_full, PIPELINE),
    (_cpu_is_full, CPU),
    (_analysis_is_full, ANALYSIS),
    (_slots_are_full, CONCURRENCY),
)


def _behind(pool: PoolFigures, modules: Iterable[ModuleSummary], workers: int) -> bool:
    """Return whether data wait because all *workers* are busy or the pool is full."""
    full = pool.total >= pool.buffer_cap * pool.max_buffer_number
    return full or (pool.total > 0 and _handling(modules) >= workers)


def _handling(modules: Iterable[ModuleSummary]) -> int:
    return sum(module.handling for module in modules)


class BottleneckTimes:
    """The time each bottleneck has limited a crawl, and the current bottleneck."""

    def __init__(self) -> None:
        self._seconds: Counter[Bottleneck] = Counter()
        self._recent: deque[Bottleneck] = deque(maxlen=_RECENT)

    def add(self, before: Summary, now: Summary) -> None:
        """Count the time between two moments of the crawl."""
        bottleneck = find_bottleneck(before, now)
        self._recent.append(bottleneck)
        if bottleneck is not IDLE:
            self._seconds[bottleneck] += now.elapsed - before.elapsed  # type: ignore[assignment]

    @property
    def current(self) -> Bottleneck:
        """The most frequent one of the recent moments; of equally frequent ones, the latest."""
        return max(reversed(self._recent), key=self._recent.count, default=NOTHING)

    @property
    def longest(self) -> tuple[Bottleneck, float]:
        """The bottleneck with the longest total time, and its share of all time (0 to 1)."""
        if not self._seconds:
            return NOTHING, 0.0
        [(bottleneck, seconds)] = self._seconds.most_common(1)
        return bottleneck, seconds / max(sum(self._seconds.values()), 1e-9)
