"""The metrics of this process as one of the schedulers of a cluster's job, and their server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from ..cluster.scheduler_figures import SchedulerFigures, scheduler_figures
from .access import HEADERS, new_token
from .loopback import listen, serve, url_of
from .metrics import CONTENT_TYPE, Crawl, CrawlMetrics, buckets_of, metrics_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

    from gevent.pywsgi import WSGIServer

    from ..cluster.member import Member
    from ..scheduler import Scheduler


class SchedulerMetrics:
    """What a scheduler has sent, received and lost, and how Redis answers it."""

    def __init__(self, job: str, figures: SchedulerFigures) -> None:
        self._job = job
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        figures = self._figures
        yield GaugeMetricFamily("crawler_redis_up", "Whether Redis answers.", value=figures.is_up)
        yield self._count("crawler_fenced", "Shards that were another's.", figures.fenced)
        yield self._count("crawler_rejoins", "Returns after a silence.", figures.rejoins)
        yield self._count("crawler_links_sent", "Links for other shards.", figures.links_sent)
        yield from (self._received(), self._calls())

    def _count(self, name: str, text: str, number: int) -> Metric:
        metric = CounterMetricFamily(name, text, labels=("job",))
        metric.add_metric((self._job,), number)
        return metric

    def _received(self) -> Metric:
        labels = ("job", "result")
        metric = CounterMetricFamily("crawler_links_received", "Links of others.", labels=labels)
        for result, number in self._figures.links_received.items():
            metric.add_metric((self._job, result), number)
        return metric

    def _calls(self) -> Metric:
        name = "crawler_redis_call_duration_seconds"
        metric = HistogramMetricFamily(name, "Calls of a script.", labels=("job", "script"))
        for script, found in self._figures.calls.items():
            metric.add_metric((self._job, script), buckets_of(found), found["seconds"])
        return metric


class SchedulerMetricsServer:
    """Serves /metrics on *port*, or on a free one if that is 0, once follow() was called."""

    def __init__(self, port: int = 0) -> None:
        self._token = new_token()
        self._listener = listen(port)
        self._server: WSGIServer | None = None
        self._scheduler: Scheduler
        self._member: Member

    @property
    def url(self) -> str:
        return url_of(self._listener, self._token) + "metrics"

    def follow(self, scheduler: Scheduler, member: Member) -> None:
        """Serve the metrics of *scheduler*, which works on its job as *member*."""
        self._scheduler, self._member = scheduler, member
        self._server = serve(self._listener, self._answer, self._token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._server is not None:
            self._server.stop(timeout=0)
        self._listener.close()

    def _answer(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/metrics" or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            start("404 Not Found", [("Content-Type", "text/plain"), *HEADERS.items()])
            return [b"only /metrics is here\n"]
        text = self._text()
        start("200 OK", [("Content-Type", CONTENT_TYPE), *HEADERS.items()])
        return [text]

    def _text(self) -> bytes:
        job, scheduler = self._member.record.keys.name, self._scheduler
        # The counts of URLs are those of shards, which move: the portal has those of the job.
        crawl = Crawl(job, None, scheduler.summary().to_dict(), scheduler.host_states())
        figures = scheduler_figures(self._member)
        return metrics_text(CrawlMetrics([crawl]), SchedulerMetrics(job, figures))
