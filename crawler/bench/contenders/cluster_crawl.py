"""The processes of a cluster that a benchmark measures: schedulers, and a collector."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gevent

# A crawl imports this when it first needs it; here it must not count for the crawl.
import selectolax.lexbor  # noqa: F401

from ...cluster.collector import Collector
from ...cluster.job_record import read_job
from ...cluster.member import Member
from ...compose import stream
from ...result import CrawlResult
from ...spider import PageSpider
from ..measuring.child import cpu

_LOOK = 0.05
#: Seconds until the others have seen what a scheduler holds, and it really waits.
_SETTLE = 1.0


def work(url: str, redis: str, name: str) -> dict[str, Any]:
    """Crawl the site as one of the schedulers of the job *name*, until it is finished."""
    _, result = _join(url, redis, name)
    result.wait()
    return {"ended": time.time()}


def collect(redis: str, name: str) -> dict[str, Any]:
    """Collect the records of a job until it is finished."""
    with TemporaryDirectory(prefix="crawler-bench-") as folder:
        record, feed = read_job(redis, name), str(Path(folder, "pages.jsonl"))
        Collector(
            redis, record, Path(folder, "job"), lambda job: job.open_feed(feed, append=False)
        ).run()
    return {}


def idle(url: str, redis: str, name: str, seconds: float) -> dict[str, Any]:
    """Join a job that is paused; return the share of a core that it takes to wait."""
    member, result = _join(url, redis, name)
    while len(member.held.active) < member.record.keys.shards:
        gevent.sleep(_LOOK)
    gevent.sleep(_SETTLE)
    before = cpu()
    gevent.sleep(seconds)
    used = (cpu() - before) / seconds
    result.stop()
    return {"idle": used}


def hold(url: str, redis: str, name: str) -> dict[str, Any]:
    """Join a job that is paused, and hold shards of it until the process is killed."""
    _join(url, redis, name)[1].wait()
    return {}


def take_over(url: str, redis: str, name: str) -> dict[str, Any]:
    """Join a job that is paused, and wait until this process has all shards of it."""
    member, result = _join(url, redis, name)
    while len(member.held.active) < member.record.keys.shards:
        gevent.sleep(_LOOK)
    ended = time.time()
    result.stop()
    return {"ended": ended}


def _join(url: str, redis: str, name: str) -> tuple[Member, CrawlResult]:
    member = Member(redis, read_job(redis, name))
    spider = PageSpider(start_urls=[url], max_depth=None)
    result = stream(spider, job=member, delay=0, allow_private=True)
    gevent.spawn(deque, result, maxlen=0)
    return member, result
