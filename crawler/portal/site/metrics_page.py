"""The metrics of a portal: its runs, its timetable, its builds, and the jobs of its cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from time import time

from flask import Response
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ...errors import ClusterError
from ..metrics import CONTENT_TYPE, Crawl, CrawlMetrics, metrics_text
from ..projects.builds import Builds
from ..runs.cluster_jobs import ClusterJob, ClusterJobs
from ..runs.run_view import RunView
from ..runs.runner import Runner
from ..store.runs import STATES, Run, Runs
from .lookup import shown
from .visitor import Route

#: Seconds for which the series of a run that is over are there.
_KEPT = 600.0


class MetricsPage:
    def __init__(
        self,
        runs: Runs,
        view: RunView,
        runner: Runner,
        builds: Builds,
        cluster: ClusterJobs | None,
    ) -> None:
        self._runs, self._view = runs, view
        self._own = (runner.lateness, builds.results)
        self._cluster = cluster

    def routes(self) -> list[Route]:
        return [Route("/metrics", "GET", self.page, "viewer", scope="metrics")]

    def page(self) -> Response:
        runs = map(self._crawl, shown(self._runs.since(time() - _KEPT)))
        jobs = [] if self._cluster is None else _jobs(self._cluster)
        whole = (Crawl(job.status["job"], job.figures.urls, {}) for job in jobs)
        crawls, cluster = CrawlMetrics([*runs, *whole]), _Cluster(self._cluster, jobs)
        text = metrics_text(_RunStates(self._runs), *self._own, crawls, cluster)
        return Response(text, content_type=CONTENT_TYPE)

    def _crawl(self, run: Run) -> Crawl:
        figures = self._view.figures(run)
        return Crawl(figures.name, figures.urls, figures.summary, self._view.host_states(run))


class _RunStates:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def collect(self) -> Iterator[Metric]:
        metric = GaugeMetricFamily("crawler_portal_runs", "Runs in a state.", labels=("state",))
        states = self._runs.states()
        for state in STATES:
            metric.add_metric((state,), states.get(state, 0))
        yield metric


class _Cluster:
    """Whether Redis answers, and the shards of each job; nothing without a cluster."""

    def __init__(self, cluster: ClusterJobs | None, jobs: list[ClusterJob]) -> None:
        self._cluster = cluster
        self._jobs = jobs

    def collect(self) -> Iterator[Metric]:
        if self._cluster is None:
            return
        up = GaugeMetricFamily("crawler_redis_up", "Whether Redis answers.")
        up.add_metric((), self._cluster.is_up)
        yield up
        yield from _of_jobs(self._jobs)


def _jobs(cluster: ClusterJobs) -> list[ClusterJob]:
    """Return the jobs of which Redis tells now."""
    try:
        return [job for job in cluster.all() if not job.away]
    except ClusterError:
        return []


def _of_jobs(jobs: list[ClusterJob]) -> Iterator[Metric]:
    shards = GaugeMetricFamily("crawler_shards", "Shards.", labels=("job", "state"))
    takeovers = CounterMetricFamily("crawler_takeovers", "Takeovers.", labels=("job",))
    inbox = GaugeMetricFamily("crawler_inbox_bytes", "Links on their way.", labels=("job",))
    lag = GaugeMetricFamily("crawler_collector_lag_seconds", "Records to write.", labels=("job",))
    for job in jobs:
        status, name = job.status, job.status["job"]
        states = Counter(shard["state"] for shard in status["shard_table"])
        for state in ("free", "held", "waiting"):
            shards.add_metric((name, state), states[state])
        takeovers.add_metric((name,), status["takeovers"])
        inbox.add_metric((name,), status["inbox_bytes"])
        lag.add_metric((name,), status["collector_lag"])
    yield from (shards, takeovers, inbox, lag)
