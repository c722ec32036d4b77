"""The figures of a whole job, as Redis has them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any

from ..errors import ClusterError
from ..frontier import UrlCounts
from .job_record import COMMANDS, JobRecord, read_job
from .keys import PREFIX, Keys
from .redis import connect, errors_of
from .view import total

#: The most jobs of a server that are listed.
_MOST_JOBS = 100
_LEASE = ("token", "seq", "pending", "inbox", "counts", "takeovers")


def counts_of(ask: Callable[[Callable[[Any], Any]], Any], keys: Keys) -> UrlCounts:
    """Return the sum of the counts of all shards."""
    commands = [("HGET", lease, "counts") for lease in keys.leases]
    return total(_counts(found) for found in ask(lambda client: _answers(client, commands)))


def job_names(url: str) -> list[str]:
    """Return the names of the jobs at a server."""
    start, end = f"{PREFIX}{{", "}:job"
    with closing(connect(url)) as client, errors_of(url):
        found = client.scan_iter(match=f"{PREFIX}{{*}}:job", count=1000)
        names = sorted(key.decode().removeprefix(start).removesuffix(end) for key in found)
    return names[:_MOST_JOBS]


def job_status(url: str, name: str) -> dict[str, Any]:
    """Return what `crawler cluster status --json` prints."""
    record = read_job(url, name)
    keys = record.keys
    with closing(connect(url)) as client, errors_of(url):
        status, log_bytes, asked = client.hmget(keys.job, "status", "log_bytes", "asked")
        if status is None:
            raise ClusterError(f"the job {name!r} was removed")
        now = float(client.time()[0])
        here = list(_here(client.hgetall(keys.here), now))
        leases = _answers(client, [("HMGET", lease, *_LEASE) for lease in keys.leases])
        lag = _collector_lag(client, keys)
        sizes = _answers(client, [("MEMORY", "USAGE", key) for key in keys.all])
    schedulers = [one for one in here if one["age"] <= record.ttl + 1]
    shards = [_shard(number, lease, schedulers) for number, lease in enumerate(leases[:-1])]
    return {
        "job": name,
        "status": status.decode(),
        "seconds": round(time.time() - record.created, 1),
        "urls": asdict(total(_counts(lease[4]) for lease in leases)),
        "shards": keys.shards,
        "free_shards": sum(one["state"] == "free" for one in shards),
        "inbox_bytes": sum(one["inbox_bytes"] for one in shards),
        "log_bytes": int(log_bytes or 0),
        "collector_lag": lag,
        "redis_bytes": sum(size or 0 for size in sizes),
        "takeovers": sum(one["takeovers"] for one in shards),
        "schedulers": schedulers,
        "silent": [one for one in here if one not in schedulers],
        "asked": _asked(asked, here, record),
        "shard_table": shards,
    }


def _answers(client: Any, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return the answers to *commands*, which are sent together."""
    with client.pipeline(transaction=False) as pipeline:
        for command in commands:
            pipeline.execute_command(*command)
        answers: list[Any] = pipeline.execute()
    return answers


def _counts(text: bytes | None) -> Any:
    return json.loads(text)["counts"] if text else {}


def _here(found: dict[bytes, bytes], now: float) -> Iterator[dict[str, Any]]:
    """Yield the schedulers that have renewed their leases lately; *age* is seconds since then."""
    for name, value in sorted(found.items()):
        then, _, figures = value.decode().partition(" ")
        yield {"id": name.decode(), "age": max(0.0, now - float(then)), **json.loads(figures)}


def _shard(number: int, lease: Sequence[bytes | None], here: Sequence[Any]) -> dict[str, Any]:
    """Return a shard: free, held, or waiting for a scheduler that loads it or was lost."""
    token, seq, pending, inbox, counts, takeovers = lease
    holder = next((one["id"] for one in here if number in one.get("held", ())), "")
    return {
        "shard": number,
        "state": "free" if not token else "held" if holder else "waiting",
        "scheduler": holder,
        "pending": int(pending or 0),
        "done": _counts(counts).get("done", 0),
        "batches": int(seq or 0),
        "inbox_bytes": int(inbox or 0),
        "takeovers": int(takeovers or 0),
    }


def _collector_lag(client: Any, keys: Keys) -> float:
    """Return for how many seconds the oldest record that is not collected has waited."""
    # The last entry that was collected stays in the log.
    has_collected = int(client.hget(keys.collector, "beat") or 0) > 1
    entries = client.xrange(keys.log, count=2)[has_collected:]
    if not entries:
        return 0.0
    seconds, micros = client.time()
    at = int(entries[0][0].decode().partition("-")[0]) / 1000
    return max(0.0, round(float(seconds + micros / 1e6 - at), 1))


def _asked(text: bytes | None, here: Sequence[Any], record: JobRecord) -> dict[str, Any] | None:
    """Return the last command, and what each scheduler that was there then has done about it."""
    if text is None:
        return None
    asked: dict[str, Any] = json.loads(text)
    known = {one["id"]: one for one in here}
    states = {name: _obeyed(asked["command"], known.get(name), record) for name in asked["of"]}
    return asked | {"at": float(asked["at"]), "of": states}


def _obeyed(command: str, one: dict[str, Any] | None, record: JobRecord) -> str:
    """Return "done", "waits" or "silent"; a scheduler that has ended has nothing left to do."""
    if one is None:
        return "done"
    if one["age"] > record.ttl + 1:
        return "silent"
    if command in ("stop", "restart"):
        return "waits"
    is_quiet = command != "pause" or not one.get("in_flight")
    return "done" if one.get("status") == COMMANDS[command] and is_quiet else "waits"
