"""History: a few figures of a crawl over its whole time, for charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..scheduler import Summary

#: How many samples are kept.
_MOST = 120
#: Seconds between two samples at first.
_INTERVAL = 1.0

#: Points of a chart: seconds since the start, and a value.
Points = list[tuple[float, float]]


class Sample(NamedTuple):
    """Totals *at* so many seconds after the start; *seconds* is the sum of all latencies."""

    at: float
    responses: int
    seconds: float
    left: int


class History:
    """
    Samples of a crawl, evenly spaced and bounded in number.

    When there are too many, every second one is dropped and the interval doubles.
    """

    def __init__(self, samples: Iterable[Sequence[float]] = ()) -> None:
        self._samples = [Sample(at, int(n), seconds, int(left)) for at, n, seconds, left in samples]
        self._interval = _INTERVAL

    def add(self, summary: Summary) -> None:
        """Keep a sample of *summary*, unless the last one is too recent and the crawl goes on."""
        interval = 0.001 if summary.status == "stopped" else self._interval
        if self._samples and summary.elapsed < self._samples[-1].at + interval:
            return
        latency = summary.latency
        self._samples.append(
            Sample(summary.elapsed, summary.responses, latency.total, summary.urls.pending)
        )
        if len(self._samples) > _MOST:
            self._samples = self._samples[::2]
            self._interval *= 2

    def to_list(self) -> list[list[float]]:
        """Return the samples as JSON values; History(…) takes them."""
        return [[round(number, 4) for number in sample] for sample in self._samples]

    def rates(self) -> Points:
        """Return the responses per second between each two samples."""
        return list(self._changes(lambda a, b: (b.responses - a.responses) / (b.at - a.at)))

    def latencies(self) -> Points:
        """Return the average latency of the responses between each two samples, in seconds."""
        return list(self._changes(_average_latency))

    def left(self) -> Points:
        """Return the number of URLs left at each sample."""
        return [(sample.at, float(sample.left)) for sample in self._samples]

    def _changes(
        self, value: Callable[[Sample, Sample], float | None]
    ) -> Iterator[tuple[float, float]]:
        for before, now in pairwise(self._samples):
            if now.at > before.at and (found := value(before, now)) is not None:
                yield now.at, found


def _average_latency(before: Sample, now: Sample) -> float | None:
    responses = now.responses - before.responses
    return (now.seconds - before.seconds) / responses if responses > 0 else None
