"""What Redis knows of one URL of a job: whether it waits, has ended, or was never met."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from .. import url as urls
from ..data import Request
from ..errors import ClusterError, InvalidURL
from .fold import ShardState, admitted, request_of
from .job_record import JobRecord, read_job
from .journal import keys_by
from .loading import load
from .server import Server
from .shards import ShardMap
from .short_seen import split


def url_story(redis: str, name: str, url: str) -> dict[str, Any]:
    """Return what is known of *url* in the job *name*, as `crawler cluster why --json` prints it."""
    record = read_job(redis, name)
    host = _host(url)
    if not host:
        raise ClusterError(
            f"{url!r:.200} has no host, so that no job can have it: give a whole URL"
        )
    maps = [ShardMap(record.keys.shards, by_domain=by) for by in (False, True)]
    with closing(Server(redis, record.keys, lambda: True)) as server:
        found = [
            _in_shard(load(server, record, shard).state, record, url)
            for shard in sorted({shards.of_host(host) for shards in maps})
        ]
    story = next((one for one in found if one["status"] != "not met"), found[0])
    return {"url": url, "job": name} | story


def _host(url: str) -> str:
    try:
        return urls.host(url)
    except InvalidURL:
        return ""


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
    is_seen = key in split(bytes(state.seen))
    return {"status": "ended" if is_seen else "not met"}
