"""A checkpoint: the state of a shard as pieces, each of which Redis takes in one command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .blob import pack, unpack
from .fold import Row, ShardState
from .short_seen import SHORT

#: Bytes of fingerprints, and number of rows, in one piece at most.
_KEYS = 512 * 1024 // SHORT * SHORT
_ROWS = 2_000
#: The first byte of a piece: what it has.
_SEEN, _OTHER = b"s", b"r"


def pieces(state: ShardState) -> Iterator[bytes]:
    """Yield the pieces of a checkpoint; state_of() makes the same state of them."""
    some: list[Row] = []
    for row in _rows(state):
        some.append(row)
        if len(some) == _ROWS:
            yield _OTHER + pack(some)
            some = []
    yield _OTHER + pack(some)
    for start in range(0, len(state.seen), _KEYS):
        yield _SEEN + bytes(state.seen[start : start + _KEYS])


def state_of(some: Iterable[bytes]) -> ShardState:
    """Return the state that the pieces *some* were made of."""
    state = ShardState()
    for piece in some:
        if piece[:1] == _SEEN:
            state.seen += piece[1:]
        else:
            for row in unpack(piece[1:]):
                _take(state, row)
    return state


def _rows(state: ShardState) -> Iterator[Row]:
    yield ["@", state.seq, state.last]
    yield from state.pending.values()
    for number, strikes in state.strikes.items():
        yield ["k", number, strikes]
    yield from state.hosts.values()
    yield from state.robots.values()
    yield from state.cookies.values()
    for host, pages in state.pages.items():
        yield ["p", host, pages]
    for url, depth, found_on in state.recent:
        yield ["u", url, depth, found_on]


def _take(state: ShardState, row: Row) -> None:
    kind, name = row[0], row[1]
    if kind == "@":
        state.seq, state.last = row[1:]
    elif kind == "c":
        state.set_cookie(row)
    elif kind == "u":
        state.recent.append((row[1], row[2], row[3]))
    elif kind in _BY_NAME:
        getattr(state, _BY_NAME[kind])[name] = row[2] if kind in "kp" else row
    else:
        raise ValueError(f"a row of the unknown kind {kind!r}: a newer crawler has written it")


_BY_NAME = {"a": "pending", "k": "strikes", "h": "hosts", "r": "robots", "p": "pages"}
