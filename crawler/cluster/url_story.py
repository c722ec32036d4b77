"""What Redis knows of one URL of a job: whether it waits, has ended, or was never met."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from ..data import Request
from ..errors import ClusterError
from ..frontier.admission.fingerprint import SIZE
from .fold import ShardState, admitted, request_of
from .job_record import JobRecord, read_job
from .journal import keys_by
from .loading import load
from .server import Server
from .shards import ShardMap


def url_story(redis: str, name: str, url: str) -> dict[str, Any]:
    """Return what is known of *url* in the job *name*, as `crawler cluster why --json` prints it."""
    record = read_job(redis, name)
    shards = {ShardMap(record.keys.shards, by_domain=by).of(url) for by in (False, True)}
    if None in shards:
        raise ClusterError(f"{url!r:.200} has no host, so that no scheduler can have it")
    with closing(Server(redis, record.keys, lambda: True)) as server:
        found = [
            _in_shard(load(server, record, shard).state, record, url)
            for shard in sorted(shard for shard in shards if shard is not None)
        ]
    story = next((one for one in found if one["status"] != "not met"), found[0])
    return {"url": url, "job": name} | story


def _in_shard(state: ShardState, record: JobRecord, url: str) -> dict[str, Any]:
    key_of = keys_by(record.fingerprint)
    key = key_of(admitted(0, Request(url)))
    for row in state.pending.values():
        request = request_of(row)
        if url == request.url or url in request.redirects or key_of(row) == key:
            return {
                "status": "pending",
                "found_on": request.found_on,
                "depth": request.depth,
                "attempts": list(request.attempts),
                "redirects": list(request.redirects),
            }
    seen = state.seen
    is_seen = any(seen[start : start + SIZE] == key for start in range(0, len(seen), SIZE))
    return {"status": "ended" if is_seen else "not met"}
