"""Meter: how many responses and bytes were fetched, at which rate and latency."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, process_time
from typing import Any

from ..data import Response

#: Latencies are counted in buckets, each 2 ** (1 / 8) times the one before: exact within 9 %.
_STEPS = 8
#: The bounds of a histogram, from 1 ms to 64 s.
LATENCY_BOUNDS = tuple(2.0**power for power in range(-10, 7))
#: Seconds over which the current rate is measured.
_WINDOW = 10


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from request to response: 50 % of the responses were faster than *p50*, and so on."""

    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0
    max: float = 0.0
    #: The sum over all responses.
    total: float = 0.0
    #: The number of responses by the upper bound of their latency, which is one of LATENCY_BOUNDS.
    #: Responses above the last bound are not in it.
    histogram: Mapping[float, int] = field(default_factory=dict)


class Meter:
    """Measures a run. Costs a few dictionary updates per response; does not grow with the crawl."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.ended: float | None = None
        self._cpu = 0.0
        self.responses = 0
        self.bytes = 0
        self.statuses: Counter[int] = Counter()
        self.unsuccessful_starts = 0
        self._buckets: Counter[int] = Counter()
        self._slowest = 0.0
        self._total = 0.0
        #: Seconds that earlier processes ran.
        self._before = 0.0
        self._seconds: deque[list[int]] = deque(maxlen=_WINDOW + 1)

    def count(self, response: Response) -> None:
        self.responses += 1
        self.bytes += response.size
        self.statuses[response.status] += 1
        self._slowest = max(self._slowest, response.elapsed)
        self._total += response.elapsed
        self._buckets[math.ceil(math.log2(max(response.elapsed, 1e-6)) * _STEPS)] += 1
        second = int(monotonic())
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1][1] += 1
        else:
            self._seconds.append([second, 1])

    def count_start(self, response: Response) -> None:
        """Count the last answer to a start page, unless its own request asks for this status."""
        wanted = response.request.meta.get("handle_httpstatus_list", ())
        self.unsuccessful_starts += response.status >= 400 and response.status not in wanted

    def figures(self) -> dict[str, Any]:
        """Return the figures for continue_from(), as JSON values."""
        return {
            "responses": self.responses,
            "bytes": self.bytes,
            "statuses": dict(self.statuses),
            "unsuccessful_starts": self.unsuccessful_starts,
            "buckets": dict(self._buckets),
            "slowest": self._slowest,
            "total": self._total,
            "elapsed": self.elapsed,
        }

    def continue_from(self, figures: Mapping[str, Any]) -> None:
        """Continue to count from the *figures* of an earlier process."""
        self.responses = figures["responses"]
        self.bytes = figures["bytes"]
        self.statuses.update({int(code): n for code, n in figures["statuses"].items()})
        self.unsuccessful_starts = figures.get("unsuccessful_starts", 0)
        self._buckets.update({int(bucket): n for bucket, n in figures["buckets"].items()})
        self._slowest = figures["slowest"]
        self._total = figures.get("total", 0.0)
        self._before = figures["elapsed"]

    def start(self) -> None:
        self.began = monotonic()
        self._cpu = process_time()

    def stop(self) -> None:
        self.ended = monotonic()
        self._cpu = process_time() - self._cpu

    @property
    def elapsed(self) -> float:
        now = 0.0 if self.began is None else (self.ended or monotonic()) - self.began
        return self._before + now

    @property
    def cpu(self) -> float:
        """Seconds of CPU that the process has used since the start."""
        return self._cpu if self.began is None or self.ended else process_time() - self._cpu

    @property
    def rate(self) -> float:
        """Responses per second over the last ten seconds; over the whole run if it has ended."""
        if self.ended is not None or self.elapsed <= _WINDOW:
            return self.responses / max(self.elapsed, 1e-9)
        now = int(monotonic())
        return sum(n for second, n in self._seconds if now - _WINDOW <= second < now) / _WINDOW

    def latency(self) -> Latency:
        p50, p90, p99 = (min(self._quantile(q), self._slowest) for q in (0.5, 0.9, 0.99))
        return Latency(p50, p90, p99, self._slowest, self._total, self._histogram())

    def _histogram(self) -> dict[float, int]:
        counts: Counter[float] = Counter()
        for bucket, number in self._buckets.items():
            counts[max(LATENCY_BOUNDS[0], 2.0 ** math.ceil(bucket / _STEPS))] += number
        return {bound: counts[bound] for bound in LATENCY_BOUNDS if counts[bound]}

    def _quantile(self, q: float) -> float:
        wanted = q * self.responses
        for bucket in sorted(self._buckets):
            wanted -= self._buckets[bucket]
            if wanted <= 0:
                return float(2 ** (bucket / _STEPS))
        return 0.0
