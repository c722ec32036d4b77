"""LocalCluster: a job with all its schedulers and its collector on this machine."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from ..errors import ClusterError
from ..feed import local_path
from ..frontier import Fingerprint
from ..job.directory import Job
from ..job.view import directory_name
from ..report.text import printable
from .cluster_collect import collect, collector_of, report_of, summary_of
from .cluster_crawl import described, shape_of
from .cluster_processes import Schedulers, command_of
from .cluster_view import ClusterView
from .live_view import Screen
from .options import JOBS, CrawlOptions
from .spider_file import job_name

#: A job directory, the files to write and the files to append to.
Places = tuple[str | None, Sequence[str], Sequence[str]]
#: The options of a crawl that a cluster does not have.
_UNSUPPORTED = {
    "warc": "--warc",
    "retry_failed": "--retry-failed",
    "conditions": "--fail-if",
    "min_items": "--min-items",
    "report": "--report",
    "live": "--live",
}


def run_here(
    spider: str,
    arguments: Sequence[str],
    assigned: Sequence[str],
    options: CrawlOptions,
    schedulers: int,
) -> NoReturn:
    """Crawl with several schedulers and a server of their own in the job directory, and exit."""
    from ..cluster.embedded_server import EmbeddedServer
    from ..cluster.job_record import SHARDS_EACH

    for field, option in _UNSUPPORTED.items():
        if getattr(options, field) not in (None, ()):
            raise click.UsageError(f"--schedulers and {option}: a cluster cannot do this yet")
    crawl = LocalCluster([spider], arguments, assigned, name=None, schedulers=schedulers)
    folder = local_path(options.job or Path(JOBS) / directory_name(crawl.name))
    data = Path(folder) / "redis"
    if options.fresh and Path(folder).exists():
        Job.clear(folder)
        shutil.rmtree(data, ignore_errors=True)
    with EmbeddedServer(data) as server:
        places = (str(folder), options.write_to, options.append_to)
        shards = schedulers * SHARDS_EACH
        code, summary, rows = crawl.run(server.url, places, shards=shards)
    show(summary, rows, as_json=options.as_json)
    sys.exit(code)


def show(
    summary: dict[str, Any], rows: Sequence[tuple[str, str]], *, as_json: bool = False
) -> None:
    """Print the report of a job."""
    if as_json:
        click.echo(json.dumps(summary, indent=4))
        return
    for label, text in rows:
        click.echo(printable(f"{label:<14}{text}"))


class LocalCluster:
    """
    Crawls *what*, a spider's file or URLs, with several *schedulers*.

    The same command again continues the job, whatever has ended it.
    """

    def __init__(
        self,
        what: Sequence[str],
        arguments: Sequence[str],
        assigned: Sequence[str],
        *,
        name: str | None,
        schedulers: int,
    ) -> None:
        spider, self._settings, self._about = described(what, arguments, assigned)
        self.name = name or job_name(spider.name, arguments)
        self._schedulers = schedulers
        is_file = bool(self._about["source"])
        self._command = command_of(self.name, what if is_file else (), arguments, assigned)

    def run(
        self,
        redis_url: str,
        places: Places,
        *,
        shards: int | None = None,
        ttl: float | None = None,
        unsafe: bool = False,
    ) -> tuple[int, dict[str, Any], Sequence[tuple[str, str]]]:
        """Crawl to the end; return the exit code, the summary and the rows of the report."""
        shape = shape_of(self._settings, shards, ttl)
        self._create_or_continue(redis_url, shape | {"unsafe": unsafe})
        collector = collector_of(redis_url, self.name, *places)
        view = ClusterView(redis_url, self.name, Screen(stderr=True))
        with Schedulers(self._command, self._schedulers, redis_url) as schedulers, view:

            def look() -> None:
                code = schedulers.look()
                if code not in (None, 0, 3):
                    collector.stop()
                    raise ClusterError(f"a scheduler has failed with the exit code {code}")

            code = collect(collector, look)
        return code, summary_of(collector), report_of(collector)

    def _create_or_continue(self, redis_url: str, job: dict[str, Any]) -> None:
        from ..cluster.about import refuse_different
        from ..cluster.job_record import create_job, find_job

        record = find_job(redis_url, self.name)
        if record is None:
            fingerprint = Fingerprint(self._settings.fingerprint)
            create_job(redis_url, self.name, self._about, fingerprint=fingerprint, **job)
        else:
            refuse_different(self.name, record.about, self._about)
