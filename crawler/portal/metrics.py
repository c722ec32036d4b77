"""Metrics of crawls in the text format of Prometheus. No label grows with the web."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

from .._distribution import __version__
from ..frontier import UrlCounts
from ..frontier.durable.durations import DURATION_BOUNDS
from ..report.queue_figures import QueueFigures
from ..scheduler.meter import LATENCY_BOUNDS

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Collector(Protocol):
    """prometheus_client calls collect() for each text."""

    def collect(self) -> Iterable[Metric]: ...


class Crawl(NamedTuple):
    """
    A crawl by the name of its job; *summary* has the names of Summary.to_dict(), or is empty.

    *urls* is None for a part of a crawl. *hosts* is the number of them by state, if it goes on.
    """

    job: str
    urls: UrlCounts | None
    summary: Mapping[str, Any]
    hosts: Mapping[str, int] = {}


def metrics_text(*collectors: Collector) -> bytes:
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    text: bytes = generate_latest(registry)
    return text


class CrawlMetrics:
    """The metrics of any number of crawls."""

    def __init__(self, crawls: Sequence[Crawl]) -> None:
        self._crawls = crawls
        self._with_summary = [crawl for crawl in crawls if crawl.summary]

    def collect(self) -> Iterator[Metric]:
        yield from self._urls()
        yield from self._responses()
        yield from self._work()
        yield self._hosts()
        yield from self._commits()
        yield InfoMetricFamily(
            "crawler_build", "The version that crawls.", value={"version": __version__}
        )

    def _urls(self) -> Iterator[Metric]:
        labels = ("job", "outcome", "reason")
        urls = CounterMetricFamily("crawler_urls", "URLs that are over.", labels=labels)
        pending = GaugeMetricFamily("crawler_urls_pending", "URLs left.", labels=("job",))
        for job, counts, *_ in self._crawls:
            if counts is None:
                continue
            queue = QueueFigures.of(counts)
            urls.add_metric((job, "done", ""), queue.success)
            pending.add_metric((job,), queue.left)
            for outcome in ("failed", "refused", "turned_away"):
                for reason, number in getattr(counts, outcome).items():
                    urls.add_metric((job, outcome, reason), number)
        yield urls
        yield pending

    def _responses(self) -> Iterator[Metric]:
        yield self._counts("crawler_responses", "Responses.", "code", _code_classes)
        yield self._total("crawler_response_bytes", "Bytes of bodies received.", "bytes")
        durations = HistogramMetricFamily(
            "crawler_fetch_duration_seconds", "Request to response.", labels=("job",)
        )
        for job, _, summary, _ in self._with_summary:
            durations.add_metric((job,), _buckets(summary), summary["latency"]["total"])
        yield durations

    def _work(self) -> Iterator[Metric]:
        yield self._counts("crawler_retries", "Fetches tried again.", "kind", _retries)
        yield self._counts("crawler_items", "Items.", "outcome", _items)
        yield self._counts("crawler_errors", "Errors reported.", "kind", _errors)
        pools = GaugeMetricFamily("crawler_pool_entries", "Data in a pool.", labels=("job", "pool"))
        in_flight = GaugeMetricFamily(
            "crawler_in_flight_bytes", "What pages take that are not settled.", labels=("job",)
        )
        for job, _, summary, _ in self._with_summary:
            for name in ("request", "response", "item", "error"):
                pools.add_metric((job, name), summary[f"{name}_pool"]["total"])
            in_flight.add_metric((job,), summary.get("in_flight_bytes", 0))
        yield pools
        yield in_flight

    def _hosts(self) -> Metric:
        hosts = GaugeMetricFamily("crawler_hosts", "Hosts in a state.", labels=("job", "state"))
        for crawl in self._crawls:
            for state, number in crawl.hosts.items():
                hosts.add_metric((crawl.job, state), number)
        return hosts

    def _commits(self) -> Iterator[Metric]:
        durations = HistogramMetricFamily(
            "crawler_commit_duration_seconds", "Commits of a job.", labels=("job", "target")
        )
        uncommitted = GaugeMetricFamily(
            "crawler_uncommitted_pages", "Ended pages that wait for a commit.", labels=("job",)
        )
        for job, _, summary, _ in self._with_summary:
            if found := summary.get("commits"):
                durations.add_metric((job, found["target"]), buckets_of(found), found["seconds"])
                uncommitted.add_metric((job,), found["uncommitted"])
        yield durations
        yield uncommitted

    def _counts(
        self, name: str, text: str, label: str, count: Callable[[Mapping[str, Any]], Counter[str]]
    ) -> Metric:
        labels = ("job", label) if label else ("job",)
        metric = CounterMetricFamily(name, text, labels=labels)
        for job, _, summary, _ in self._with_summary:
            for value, number in count(summary).items():
                metric.add_metric((job, value)[: len(labels)], number)
        return metric

    def _total(self, name: str, text: str, field: str) -> Metric:
        return self._counts(name, text, "", lambda summary: Counter({"": summary[field]}))


def buckets_of(durations: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the buckets of a histogram of the figures of Durations."""
    bounds = [*map(str, DURATION_BOUNDS[:-1]), "+Inf"]
    return list(zip(bounds, accumulate(durations["numbers"]), strict=True))


def _code_classes(summary: Mapping[str, Any]) -> Counter[str]:
    classes: Counter[str] = Counter()
    for code, number in summary["status_codes"].items():
        classes[f"{int(code) // 100}xx"] += number
    return classes


def _items(summary: Mapping[str, Any]) -> Counter[str]:
    return Counter({name: summary["items"][name] for name in ("processed", "failed", "dropped")})


def _retries(summary: Mapping[str, Any]) -> Counter[str]:
    return Counter(summary.get("retries") or {"": summary["retried"]})


def _errors(summary: Mapping[str, Any]) -> Counter[str]:
    # A job that an older version has written knows only how many there were.
    errors = summary["errors"]
    return Counter(errors.get("kinds") or {"": errors["reported"]})


def _buckets(summary: Mapping[str, Any]) -> list[tuple[str, float]]:
    # The names of JSON are text.
    histogram = {float(bound): n for bound, n in summary["latency"]["histogram"].items()}
    numbers = accumulate(histogram.get(bound, 0) for bound in LATENCY_BOUNDS)
    buckets = [(str(bound), float(n)) for bound, n in zip(LATENCY_BOUNDS, numbers, strict=True)]
    return [*buckets, ("+Inf", float(summary["responses"]))]
