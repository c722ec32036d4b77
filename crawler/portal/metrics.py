"""Metrics of a crawl in the text format of Prometheus. No label grows with the web."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

from .._distribution import __version__
from ..report.queue_figures import QueueFigures
from ..scheduler import Summary
from ..scheduler.meter import LATENCY_BOUNDS

CONTENT_TYPE = CONTENT_TYPE_LATEST


def metrics_text(summary: Summary, job: str) -> bytes:
    registry = CollectorRegistry()
    registry.register(_OneCrawl(summary, job))
    text: bytes = generate_latest(registry)
    return text


class _OneCrawl:
    """A collector: prometheus_client calls collect() for each text."""

    def __init__(self, summary: Summary, job: str) -> None:
        self._summary = summary
        self._job = job

    def collect(self) -> Iterator[Metric]:
        yield from self._urls()
        yield from self._responses()
        yield from self._work()
        yield InfoMetricFamily(
            "crawler_build", "The version that crawls.", value={"version": __version__}
        )

    def _urls(self) -> Iterator[Metric]:
        urls = CounterMetricFamily(
            "crawler_urls", "URLs that are over.", labels=("job", "outcome", "reason")
        )
        counts, queue = self._summary.urls, QueueFigures.of(self._summary.urls)
        urls.add_metric((self._job, "done", ""), queue.success)
        for outcome in ("failed", "refused", "turned_away"):
            for reason, number in getattr(counts, outcome).items():
                urls.add_metric((self._job, outcome, reason), number)
        yield urls
        pending = GaugeMetricFamily("crawler_urls_pending", "URLs left.", labels=("job",))
        pending.add_metric((self._job,), queue.left)
        yield pending

    def _responses(self) -> Iterator[Metric]:
        summary, latency = self._summary, self._summary.latency
        classes: Counter[str] = Counter()
        for code, number in summary.status_codes.items():
            classes[f"{code // 100}xx"] += number
        yield self._counts("crawler_responses", "Responses.", "code", classes)
        yield self._total("crawler_response_bytes", "Bytes of bodies received.", summary.bytes)
        numbers = accumulate(latency.histogram.get(bound, 0) for bound in LATENCY_BOUNDS)
        buckets = [(str(bound), float(n)) for bound, n in zip(LATENCY_BOUNDS, numbers, strict=True)]
        durations = HistogramMetricFamily(
            "crawler_fetch_duration_seconds", "Request to response.", labels=("job",)
        )
        durations.add_metric(
            (self._job,), [*buckets, ("+Inf", float(summary.responses))], latency.total
        )
        yield durations

    def _work(self) -> Iterator[Metric]:
        summary = self._summary
        yield self._total("crawler_retries", "Fetches tried again.", summary.retried)
        items = {name: getattr(summary.items, name) for name in ("processed", "failed", "dropped")}
        yield self._counts("crawler_items", "Items.", "outcome", items)
        yield self._total("crawler_errors", "Errors reported.", summary.errors.reported)
        pools = GaugeMetricFamily("crawler_pool_entries", "Data in a pool.", labels=("job", "pool"))
        for name in ("request", "response", "item", "error"):
            pools.add_metric((self._job, name), getattr(summary, f"{name}_pool").total)
        yield pools

    def _counts(self, name: str, text: str, label: str, counts: dict[str, int]) -> Metric:
        metric = CounterMetricFamily(name, text, labels=("job", label))
        for value, number in counts.items():
            metric.add_metric((self._job, value), number)
        return metric

    def _total(self, name: str, text: str, number: float) -> Metric:
        metric = CounterMetricFamily(name, text, labels=("job",))
        metric.add_metric((self._job,), number)
        return metric
