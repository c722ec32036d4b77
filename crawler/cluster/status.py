"""The figures of a whole job, as Redis has them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from typing import Any

from ..errors import ClusterError
from ..frontier import UrlCounts
from .job_record import read_job
from .keys import Keys
from .redis import connect, errors_of
from .view import total


def counts_of(ask: Callable[[Callable[[Any], Any]], Any], keys: Keys) -> UrlCounts:
    """Return the sum of the counts of all shards."""
    return total(json.loads(counts)["counts"] for counts in ask(_all_counts(keys)) if counts)


def _all_counts(keys: Keys) -> Callable[[Any], Any]:
    def read(client: Any) -> Any:
        with client.pipeline(transaction=False) as pipeline:
            for lease in keys.leases:
                pipeline.hget(lease, "counts")
            return pipeline.execute()

    return read


def job_status(url: str, name: str) -> dict[str, Any]:
    """Return what `crawler cluster status --json` prints."""
    record = read_job(url, name)
    keys = record.keys
    with closing(connect(url)) as client, errors_of(url):
        status = client.hget(keys.job, "status")
        if status is None:
            raise ClusterError(f"the job {name!r} was removed")
        now = float(client.time()[0])
        here = {
            key.decode(): value.decode().partition(" ")
            for key, value in client.hgetall(keys.here).items()
        }
        counts = counts_of(lambda function: function(client), keys)
        pairs = [client.hmget(lease, "token", "inbox") for lease in keys.leases[:-1]]
        log_bytes = int(client.hget(keys.job, "log_bytes") or 0)
        sizes = sum(client.memory_usage(key) or 0 for key in keys.all)
    return {
        "job": name,
        "status": status.decode(),
        "seconds": round(time.time() - record.created, 1),
        "urls": asdict(counts),
        "shards": keys.shards,
        "free_shards": sum(not token for token, _ in pairs),
        "inbox_bytes": sum(int(size or 0) for _, size in pairs),
        "log_bytes": log_bytes,
        "redis_bytes": sizes,
        "schedulers": [
            {"id": key, **json.loads(figures)}
            for key, (then, _, figures) in sorted(here.items())
            if now - float(then) <= record.ttl + 1
        ],
    }
