"""Loading: from the checkpoint and the journal of a shard in Redis to a shard that is worked on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._give_way import give_way
from ..frontier import Budget, Frontier, FrontierContract
from ..frontier.hosts.wakeup import Wakeup
from .active_shard import ActiveShard
from .blob import unpack
from .checkpoint import state_of
from .fold import ShardState, fold
from .job_record import JobRecord
from .journal import ClusterJournal, keys_by
from .server import Server
from .shards import ShardMap

#: How many batches of a journal are read at a time.
_CHUNK = 200


@dataclass
class Loaded:
    """
    A shard as Redis has it: its *state* and its *counts*.

    *slot* says which of its two keys the checkpoint is in; *checkpoint_bytes* and *journal_bytes* are
    what was read.
    """

    state: ShardState = field(default_factory=ShardState)
    counts: dict[str, Any] = field(default_factory=dict)
    slot: int = 1
    checkpoint_bytes: int = 0
    journal_bytes: int = 0


def load(server: Server, record: JobRecord, number: int, up_to: int | None = None) -> Loaded:
    """Return the shard *number*, up to a batch if one is named; others run meanwhile."""
    lease = record.keys.leases[number]
    counts, slot = server.ask(lambda c: c.hmget(lease, "counts", "slot"))
    loaded = Loaded(counts=json.loads(counts or b"{}"))
    if slot is not None:
        loaded.slot = int(slot)
        loaded.state = state_of(
            _pieces(server, record.keys.checkpoints[number][loaded.slot], loaded)
        )
    key_of = keys_by(record.fingerprint)
    for seq, rows in _batches(server, record.keys.journals[number], loaded, up_to):
        fold(loaded.state, [(seq, rows)], key_of)
    return loaded


def _pieces(server: Server, key: str, loaded: Loaded) -> Iterator[bytes]:
    place = 0
    while (piece := server.ask(partial(_piece, key=key, place=place))) is not None:
        loaded.checkpoint_bytes += len(piece)
        place += 1
        yield piece
        give_way()


def _piece(client: Any, key: str, place: int) -> Any:
    return client.lindex(key, place)


def _batches(
    server: Server, key: str, loaded: Loaded, up_to: int | None
) -> Iterator[tuple[int, Any]]:
    """Yield the batches after the state of *loaded*, which is advanced meanwhile."""
    end = "+" if up_to is None else f"{up_to}-1"
    while some := server.ask(partial(_entries, key=key, start=f"({loaded.state.seq}-1", end=end)):
        for entry, fields in some:
            loaded.journal_bytes += len(fields[b"rows"])
            yield int(entry.partition(b"-")[0]), unpack(fields[b"rows"])
        give_way()


def _entries(client: Any, key: str, start: str, end: str) -> Any:
    return client.xrange(key, start, end, _CHUNK)


class ShardMaker:
    """
    Makes shards that are worked on; *journal* has the other arguments of a ClusterJournal.

    A shard has no limits of its own: they are those of the whole job.
    """

    def __init__(
        self,
        record: JobRecord,
        shards: ShardMap,
        make: Callable[..., FrontierContract],
        wakeup: Wakeup,
        **journal: Any,
    ) -> None:
        self._shards = shards
        self._make = make
        self._wakeup = wakeup
        self._options = {"fingerprint": record.fingerprint, **journal}

    def make(self, number: int, token: str, loaded: Loaded) -> ActiveShard:
        state = loaded.state
        journal = ClusterJournal(number, self._shards, state, loaded.counts, **self._options)
        frontier = self._make(journal, wakeup=self._wakeup, budget=Budget())
        if not isinstance(frontier, Frontier):
            raise TypeError(f"a shard needs a Frontier, not {frontier!r}")
        shard = ActiveShard(number, token, state.seq, journal, frontier, self._shards)
        shard.slot = loaded.slot
        shard.checkpoint_bytes, shard.journal_bytes = loaded.checkpoint_bytes, loaded.journal_bytes
        shard.begun = loaded.counts.get("frontier", {}).get("begun", 0)
        return shard
