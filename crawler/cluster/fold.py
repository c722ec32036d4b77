"""
fold(): the state of a shard, from the batches of its journal. Rows: what a batch has.

A row is a list of JSON values: a letter, then

====  ================================================================================
a     admitted: number, URL, depth, priority, the page it was found on, other fields or null
w     waits again: number, URL, redirects, attempts
m     found nearer: number, depth, the page it was found on
e     ended, or moved to another shard: number
h     what is known of a host or an origin: name, failures, end of its rest, why
r     a robots.txt: origin, end of its validity, body in base64
s     the first requests were sent to their shards: their number
====  ================================================================================

Times are in seconds of Redis' clock. A number is that of a request in its shard.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..data import Request
from ..serialization import request_from_dict, request_to_dict

Row = list[Any]

#: Fields of a request that a row of kind "a" has in places of their own.
_OWN = ("url", "depth", "priority", "found_on", "id")


@dataclass
class ShardState:
    """
    What is outstanding in a shard, what was seen, and what is known of its hosts.

    *seen* are the fingerprints of all URLs that were admitted or redirected to, *met* the URL,
    depth and page of those admitted. *last* is the largest number that was given to a request.
    """

    seq: int = 0
    last: int = 0
    pending: dict[int, Request] = field(default_factory=dict)
    seen: list[bytes] = field(default_factory=list)
    met: list[tuple[str, int, str | None]] = field(default_factory=list)
    hosts: dict[str, Row] = field(default_factory=dict)
    robots: dict[str, Row] = field(default_factory=dict)


def fold(
    state: ShardState, batches: Iterable[tuple[int, list[Row]]], key_of: Callable[[Request], bytes]
) -> ShardState:
    """Apply *batches*, each with its number, to *state* and return it; *key_of* gives fingerprints."""
    for seq, rows in batches:
        if seq != state.seq + 1:
            raise ValueError(f"batch {state.seq + 1} is missing before batch {seq}")
        for row in rows:
            _apply(state, row, key_of)
        state.seq = seq
    return state


def admitted(number: int, request: Request) -> Row:
    fields = request_to_dict(request)
    more = {name: value for name, value in fields.items() if name not in _OWN}
    place = [request.url, request.depth, request.priority, request.found_on]
    return ["a", number, *place, more or None]


def waits_again(number: int, request: Request) -> Row:
    return ["w", number, request.url, [*request.redirects], [*request.attempts]]


def robots_row(origin: str, until: float, body: bytes) -> Row:
    return ["r", origin, until, b64encode(body).decode()]


def robots_body(row: Row) -> bytes:
    return b64decode(row[3])


def _apply(state: ShardState, row: Row, key_of: Callable[[Request], bytes]) -> None:
    kind, name = row[0], row[1]
    if kind == "a":
        request = _request(row)
        state.pending[name] = request
        state.last = max(state.last, name)
        state.seen.append(key_of(request))
        state.met.append((request.url, request.depth, request.found_on))
    elif kind == "e":
        del state.pending[name]
    elif kind == "w":
        _, _, url, redirects, attempts = row
        old = state.pending[name]
        again = old.replace(url=url, redirects=tuple(redirects), attempts=tuple(attempts))
        state.pending[name] = again
        if url != old.url:
            state.seen.append(key_of(again))
    elif kind == "m":
        state.pending[name] = state.pending[name].replace(depth=row[2], found_on=row[3])
    elif kind == "h":
        state.hosts[name] = row
    elif kind == "r":
        state.robots[name] = row
    elif kind != "s":
        raise ValueError(f"a row of the unknown kind {kind!r}: a newer crawler has written it")


def _request(row: Row) -> Request:
    _, number, url, depth, priority, found_on, more = row
    fields = {"url": url, "depth": depth, "priority": priority, "found_on": found_on}
    return request_from_dict({**(more or {}), **fields, "id": f"{number:x}"})
