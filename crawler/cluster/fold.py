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
k     processes died while they analysed a page, or were stuck: its mark, how often
c     a cookie that a host has set: session, its values; one that expires at 0 is deleted
====  ================================================================================

Times are in seconds of Redis' clock, those of cookies in seconds since 1970. A number is that of a request in its shard.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..data import Request
from ..errors import InvalidURL
from ..serialization import request_from_dict, request_to_dict
from ..url import host

Row = list[Any]

#: Fields of a request that a row of kind "a" has in places of their own.
_OWN = ("url", "depth", "priority", "found_on", "id")


#: How many of the URLs admitted last are remembered as such.
RECENT = 20_000
#: How many cookies of the hosts of a shard are kept: the ones that were set last.
COOKIES = 3_000


@dataclass
class ShardState:
    """
    What is outstanding in a shard, what was seen, and what is known of its hosts.

    *pending* has by number the row of each request, as one of kind "a" that is up to date. *seen*
    are the short keys of all URLs that were admitted or redirected to, one behind the other.
    *recent* are URL, depth and page of those admitted last, *pages* the number of those before by
    host: traps are found by them. *strikes* counts the processes that a page, by its mark, has ended. *last* is the
    largest number that was given to a request.
    """

    seq: int = 0
    last: int = 0
    pending: dict[int, Row] = field(default_factory=dict)
    seen: bytearray = field(default_factory=bytearray)
    recent: deque[tuple[str, int, str | None]] = field(default_factory=deque)
    pages: Counter[str] = field(default_factory=Counter)
    strikes: dict[int, int] = field(default_factory=dict)
    hosts: dict[str, Row] = field(default_factory=dict)
    robots: dict[str, Row] = field(default_factory=dict)
    cookies: dict[tuple[Any, ...], Row] = field(default_factory=dict)

    def set_cookie(self, row: Row) -> bool:
        """Keep a cookie as the one that was set last; return False if it was there already."""
        _, session, (name, _, domain, port, path, _, expires) = row
        key = (session, name, domain, port, path)
        if self.cookies.get(key) == row:
            return False
        self.cookies.pop(key, None)
        if expires != 0:
            self.cookies[key] = row
        if len(self.cookies) > COOKIES:
            del self.cookies[next(iter(self.cookies))]
        return True


def fold(
    state: ShardState, batches: Iterable[tuple[int, list[Row]]], key_of: Callable[[Row], bytes]
) -> ShardState:
    """Apply *batches*, each with its number, to *state* and return it; *key_of* gives short keys."""
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


def request_of(row: Row) -> Request:
    """Return the request of a row of kind "a"."""
    _, number, url, depth, priority, found_on, more = row
    fields = {"url": url, "depth": depth, "priority": priority, "found_on": found_on}
    return request_from_dict({**(more or {}), **fields, "id": f"{number:x}"})


def _apply(state: ShardState, row: Row, key_of: Callable[[Row], bytes]) -> None:
    kind, name = row[0], row[1]
    if kind == "a":
        state.pending[name] = row
        state.last = max(state.last, name)
        state.seen += key_of(row)
        _meet(state, row)
    elif kind == "e":
        del state.pending[name]
    elif kind == "w":
        _wait_again(state, row, key_of)
    elif kind == "m":
        _, _, url, _, priority, _, more = state.pending[name]
        state.pending[name] = ["a", name, url, row[2], priority, row[3], more]
    elif kind == "k":
        state.strikes[name] = row[2]
    elif kind == "c":
        state.set_cookie(row)
    elif kind in _FACTS:
        getattr(state, _FACTS[kind])[name] = row
    elif kind != "s":
        raise ValueError(f"a row of the unknown kind {kind!r}: a newer crawler has written it")


#: Where rows go that replace the one before of their name.
_FACTS = {"h": "hosts", "r": "robots"}


def _meet(state: ShardState, row: Row) -> None:
    """Remember the URL of *row* as one of the last; of the oldest of them only its host is counted."""
    state.recent.append((row[2], row[3], row[5]))
    if len(state.recent) > RECENT:
        with suppress(InvalidURL):
            state.pages[host(state.recent.popleft()[0])] += 1


def _wait_again(state: ShardState, row: Row, key_of: Callable[[Row], bytes]) -> None:
    _, number, url, redirects, attempts = row
    *start, more = state.pending[number]
    again = [*start, (more or {}) | {"redirects": redirects, "attempts": attempts}]
    state.pending[number] = again
    if url != again[2]:
        again[2] = url
        state.seen += key_of(again)
