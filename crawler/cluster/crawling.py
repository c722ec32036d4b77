"""A job of a cluster from a program: crawl it as one of its schedulers, collect its records."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from gevent.monkey import is_module_patched

from ..compose import settings_of
from ..compose import stream as stream_here
from ..errors import ClusterError
from ..feed import check_feed, local_path
from ..frontier import Fingerprint, UrlCounts
from ..job.directory import Job
from ..result import CrawlResult
from ..settings import Settings
from ..spider import Spider
from .about import about, by_domain, refuse_different, refuse_unsupported
from .collector import Collector
from .job_record import JobRecord, create_job, find_job, read_job
from .member import Member


def stream(
    spider: Spider | type[Spider],
    redis_url: str,
    job: str,
    *,
    shards: int | None = None,
    ttl: float | None = None,
    folder: str | PathLike[str] | None = None,
    settings: Settings | None = None,
    **code: Any,
) -> CrawlResult:
    """
    Work on the *job* of a cluster as one of its schedulers; return at once, as crawler.stream() does.

    If there is no such job at *redis_url*, it is created, with *shards* and *ttl* or those of the settings;
    else the spider and the settings must be those of the job. Other keywords are settings. Iterate over the result to get the items of the pages
    that this process has analysed; collect() writes the records of all of them, each once. In *folder*
    is noted which pages are under analysis, as `crawler cluster join` does.
    """
    _refuse_unpatched()
    spider = spider() if isinstance(spider, type) else spider
    settings = settings or Settings.load(spider=settings_of(spider), code=code)
    refuse_unsupported(spider, settings)
    here = about(spider, settings)
    new = {"shards": shards or settings.cluster.shards, "ttl": ttl or settings.cluster.ttl}
    record = _created_or_found(redis_url, job, here, settings, **new)
    refuse_different(job, record.about, here)
    place = None if folder is None else Path(folder)
    return stream_here(spider, job=member_of(redis_url, record, settings, place), settings=settings)


def crawl(spider: Spider | type[Spider], redis_url: str, job: str, **options: Any) -> CrawlResult:
    """Work on the *job* until it is finished; takes the arguments of stream()."""
    result = stream(spider, redis_url, job, **options)
    result.items = list(result)
    return result.wait()


def collect(
    redis_url: str, job: str, folder: str | PathLike[str], outputs: Sequence[str] = ()
) -> UrlCounts:
    """
    Write the records of *job* to *outputs*, such as "items.jsonl", each once; return when it is over.

    Call it again to continue after an interruption. *folder* becomes a job directory, in which every
    page has its end.
    """
    _refuse_unpatched()
    for spec in outputs:
        check_feed(spec)

    def open_feeds(directory: Job) -> None:
        directory.check_outputs(outputs)
        for spec in outputs:
            directory.open_feed(spec)

    record = read_job(redis_url, job)
    collector = Collector(redis_url, record, Path(local_path(folder)), open_feeds)
    collector.run()
    return collector.counts


def member_of(redis_url: str, record: JobRecord, settings: Settings, folder: Path | None) -> Member:
    """Return this process as a scheduler of the job, with what its *settings* ask for."""
    return Member(
        redis_url,
        record,
        least_rest=settings.politeness.delay,
        by_domain=by_domain(settings),
        limits=settings.budget,
        folder=folder,
    )


def _refuse_unpatched() -> None:
    """Raise ClusterError if waiting for Redis would stop the whole process."""
    if not is_module_patched("socket"):
        raise ClusterError(
            "a cluster needs gevent's patches: begin the program with `from gevent import monkey; "
            "monkey.patch_all()`, or run it with `python -m gevent.monkey PROGRAM.py`"
        )


def _created_or_found(
    redis_url: str, name: str, here: dict[str, Any], settings: Settings, **job: Any
) -> JobRecord:
    """Return the job *name*, which several processes may create at the same time."""
    record = find_job(redis_url, name)
    if record is not None:
        return record
    try:
        return create_job(
            redis_url, name, here, fingerprint=Fingerprint(settings.fingerprint), **job
        )
    except ClusterError:
        record = find_job(redis_url, name)
        if record is None:
            raise
        return record
