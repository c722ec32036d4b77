"""The URLs of a job that Redis has: what waits, and what has ended and was not collected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

from ..data import Request
from ..serialization import request_from_dict
from .blob import unpack
from .fold import request_of
from .job_record import JobRecord, read_job
from .loading import load
from .server import Server

#: How many entries of the log are read at a time.
_COUNT = 20


def job_urls(redis: str, name: str, collected: str = "0-0") -> Iterator[dict[str, Any]]:
    """
    Yield the URLs of the job *name*, one shard after the other, and those of the log after *collected*.

    What waits is read first: of a job that is worked on, a URL may be there twice, and none is missing.
    """
    record = read_job(redis, name)
    with closing(Server(redis, record.keys, lambda: True)) as server:
        for shard in range(record.keys.shards):
            for row in load(server, record, shard).state.pending.values():
                yield _fields(request_of(row), "pending", "")
        yield from _ended(server, record, collected)


def _ended(server: Server, record: JobRecord, after: str) -> Iterator[dict[str, Any]]:
    while entries := server.ask(partial(_entries, key=record.keys.log, after=after)):
        for entry, fields in entries:
            after = entry.decode()
            for request, (status, reason, _), answer, _ in unpack(fields[b"ends"]):
                code, size, seconds = answer or (None, None, None)
                figures = {"code": code, "bytes": size, "seconds": seconds}
                yield _fields(request_from_dict(request), status, reason) | figures


def _entries(client: Any, key: str, after: str) -> Any:
    return client.xrange(key, f"({after}", "+", _COUNT)


def _fields(request: Request, status: str, reason: str) -> dict[str, Any]:
    """Return what is known of a URL, under that of its first request, as `crawler urls --json` has it."""
    url, *redirects = (*request.redirects, request.url)
    return {
        "url": url,
        "status": status,
        "reason": reason,
        "depth": request.depth,
        "found_on": request.found_on,
        "redirects": redirects,
        "attempts": list(request.attempts),
    }
