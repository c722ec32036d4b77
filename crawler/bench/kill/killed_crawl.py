"""
The crawl that is killed: it writes every kind of output, in a job directory.

    python -m crawler.bench.kill.killed_crawl DIRECTORY URL

SIGTERM lets it finish the requests in flight. The last line of its output says what it recovered.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import deque
from typing import Any

import gevent

from ...compose import stream
from ...errors import JobError
from ...job.directory import Job
from ...result import CrawlResult
from ...spider import PageSpider
from ..measuring.child import end_with
from .slow_site import ATTEMPTS, AWAY, HOME

#: The maximum number of requests in flight.
IN_FLIGHT = 8
FEEDS = (
    "pages.jsonl",
    "pages.csv",
    "pages.sqlite",
    "pages.parquet",
    "pages.jsonl.gz",
    "part-%03d.jsonl:records=7",
    "part-%03d.csv:bytes=2kB:fields=title,url,status,bytes",
    "part-%03d.sqlite:records=20",
    "part-%03d.parquet:records=9:bytes=2kB",
    "part-%03d.jsonl.gz:records=5",
)
ARCHIVE = "pages.warc.gz"
#: Pages of SQLite's write-ahead log before a checkpoint; few, so that checkpoints are frequent.
_CHECKPOINT = 64


SETTINGS: dict[str, Any] = {
    "depth": None,
    "domains": [HOME, AWAY],
    "allow_private": True,
    "robots": True,
    "concurrency": IN_FLIGHT,
    "per_host": IN_FLIGHT,
    "delay": 0,
    "politeness.latency_factor": 0,
    "politeness.throttle": 0.01,
    "politeness.max_backoff": 0.02,
    "politeness.give_up_after": 1_000_000,
    "politeness.probe_after": 1_000_000,
    "retries": ATTEMPTS,
    "retries.wait": 0.01,
}


def main(folder: str, url: str) -> int:
    try:
        with Job(folder) as job:
            return _crawl(job, url)
    except JobError as error:
        print(error, file=sys.stderr)
        return 6


def _crawl(job: Job, url: str) -> int:
    for name in FEEDS:
        job.open_feed(str(job.path / name))
    job.open_archive(str(job.path / ARCHIVE))
    next(job.journal.store.rows(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}"))
    result = stream(PageSpider(start_urls=[url]), job=job, **SETTINGS)
    _stop_on_sigterm(result)
    deque(result, maxlen=0)
    result.wait()
    _print_recovered(job, result)
    return result.exit_code


def _stop_on_sigterm(result: CrawlResult) -> None:
    gevent.get_hub()  # the handler of a signal does not create one
    gevent.signal_handler(signal.SIGTERM, result.stop)


def _print_recovered(job: Job, result: CrawlResult) -> None:
    if result.failure is not None:
        print(result.failure, file=sys.stderr)
    found = job.recovered
    figures = {
        "reason": result.reason,
        "damaged": found.damaged if found else 0,
        "lost_commits": found.lost_commits if found else 0,
        "struck_out": found.struck_out if found else 0,
    }
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    end_with(os.getppid())
    sys.exit(main(*sys.argv[1:]))
