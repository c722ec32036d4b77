"""Loading: from the journal of a shard in Redis to a shard that is worked on."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from .._give_way import give_way
from ..frontier import Frontier, FrontierContract
from ..frontier.hosts.wakeup import Wakeup
from .active_shard import ActiveShard
from .blob import unpack
from .fold import ShardState, fold
from .job_record import JobRecord
from .journal import ClusterJournal, keys_by
from .server import Server
from .shards import ShardMap

#: How many batches of a journal are read at a time.
_CHUNK = 200


def loaded_state(server: Server, record: JobRecord, number: int) -> tuple[ShardState, Any]:
    """Return the state of a shard, and its counts."""
    state, key_of = ShardState(), keys_by(record.fingerprint)
    journal = record.keys.journals[number]
    while True:
        start = f"({state.seq}-1" if state.seq else "-"
        some = server.ask(partial(_entries, key=journal, start=start))
        if not some:
            counts = server.ask(lambda c: c.hget(record.keys.leases[number], "counts"))
            return state, json.loads(counts or b"{}")
        for entry, fields in some:
            seq = int(entry.partition(b"-")[0])
            fold(state, [(seq, unpack(fields[b"rows"]))], key_of)
        give_way()


class ShardMaker:
    """Makes shards that are worked on; *journal* has the other arguments of a ClusterJournal."""

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

    def make(
        self, number: int, token: str, state: ShardState, counts: dict[str, Any]
    ) -> ActiveShard:
        seq = state.seq
        journal = ClusterJournal(number, self._shards, state, counts, **self._options)
        frontier = self._make(journal, wakeup=self._wakeup)
        if not isinstance(frontier, Frontier):
            raise TypeError(f"a shard needs a Frontier, not {frontier!r}")
        return ActiveShard(number, token, seq, journal, frontier, self._shards)


def _entries(client: Any, key: str, start: str) -> Any:
    return client.xrange(key, start, "+", _CHUNK)
