"""The spider of a cluster's job on this machine, and the crawl of one scheduler."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import gevent

from ..errors import ClusterError
from ..feed import local_path
from ..job.view import directory_name
from .interrupts import EXIT_CODE, Interrupts
from .live_page import open_metrics
from .options import JOBS, load_settings
from .spider_file import load_spider
from .standard_streams import prints_to_stderr

if TYPE_CHECKING:
    from ..cluster.member import Member
    from ..portal.scheduler_metrics import SchedulerMetricsServer
    from ..settings import Settings
    from ..spider import Spider


#: What join_and_work() returns if the job wants this process to start again.
RESTART = -1


def spider_of(what: Sequence[str], arguments: Sequence[str]) -> Spider:
    """Return the spider in a file, or the one that crawls the pages below URLs."""
    if len(what) == 1 and "://" not in what[0]:
        return load_spider(what[0], arguments)
    for word in what:
        if "://" not in word:
            raise click.UsageError(f"name one SPIDER.py, or URLs: {word!r} is neither")
    from ..spider import PageSpider

    return PageSpider(start_urls=what)


def described(
    what: Sequence[str], arguments: Sequence[str], assigned: Sequence[str], job: Any = None
) -> tuple[Spider, Settings, dict[str, Any]]:
    """Return the spider, its settings and their description; those of *job* apply unless -s differs."""
    from ..cluster.about import about, refuse_unsupported

    spider = spider_of(what, arguments)
    settings = load_settings(assigned, spider, **(job or {}))
    _refuse_late_server(settings)
    refuse_unsupported(spider, settings)
    return spider, settings, about(spider, settings, arguments)


def shape_of(settings: Settings, shards: int | None, ttl: float | None) -> dict[str, Any]:
    """Return how a new job is divided, and how long leases last: as given, or else as the settings say."""
    cluster = settings.cluster
    return {"shards": shards or cluster.shards, "ttl": ttl or cluster.ttl}


def _refuse_late_server(settings: Settings) -> None:
    """Refuse a server that is named where only the settings of a crawl are read."""
    given = [one.source for one in settings.origins.get("redis", ())]
    if given and given[-1] in ("spider", "command line"):
        raise click.UsageError(
            f"the setting redis cannot come from the {given[-1]}: give --redis, set the variable "
            "CRAWLER_REDIS, or write it into crawler.toml"
        )


def join_and_work(
    redis_url: str,
    name: str,
    what: Sequence[str],
    arguments: Sequence[str],
    assigned: Sequence[str],
    folder: str | None = None,
    metrics: int | None = None,
) -> int:
    """
    Work on a job until it is over, or Ctrl-C; return the exit code.

    *metrics* is the port on which they are served; 0 chooses one, None serves none.
    """
    from ..cluster.about import refuse_different
    from ..cluster.crawling import member_of
    from ..cluster.job_record import read_job

    record = read_job(redis_url, name)
    if not what and record.about["source"]:
        raise click.UsageError(
            f"the job {name!r} has a spider of its own, {record.about['spider']}: name its file, "
            f"as in crawler cluster join {name} SPIDER.py"
        )
    spider, settings, here = described(
        what or record.about["urls"], arguments, assigned, record.about["settings"]
    )
    refuse_different(name, record.about, here)
    place = Path(local_path(folder or Path(JOBS) / f"{directory_name(name)}.schedulers"))
    member = member_of(redis_url, record, settings, place)
    page = None if metrics is None else open_metrics(metrics)
    with page or nullcontext():
        return _work(member, spider, settings, page)


def _work(
    member: Member, spider: Spider, settings: Settings, page: SchedulerMetricsServer | None
) -> int:
    """Crawl as *member* until the job is over, or Ctrl-C; return the exit code."""
    from ..compose import stream

    with Interrupts() as interrupts, prints_to_stderr():
        result = stream(spider, job=member, settings=settings)
        if page is not None:
            page.follow(result.scheduler, member)
            click.echo(f"metrics: {page.url}", err=True)
        items = gevent.spawn(deque, result, maxlen=0)
        ended: Any = gevent.spawn(result.wait)
        gevent.wait([ended, interrupts.first], count=1)
        interrupts.acknowledge()
        if not ended.ready():
            stopping = gevent.spawn(result.stop)
            gevent.wait([ended, interrupts.second], count=1)
            stopping.kill()
        ended.get()
        items.join()
    if result.failure is not None:
        raise ClusterError(str(result.failure))
    if interrupts.second.is_set():
        return EXIT_CODE
    if member.is_restarting and not interrupts.first.is_set():
        return RESTART
    return 0 if member.status == "finished" else 3
