"""Checkpoints: writes the state of shards whose journals have grown long, so that these are cut."""

from __future__ import annotations

import logging

import gevent
from gevent.event import Event

from .._give_way import give_way
from ..errors import RedisAway
from .active_shard import ActiveShard
from .checkpoint import pieces
from .job_record import JobRecord
from .loading import load
from .server import Server

log = logging.getLogger(__name__)

#: Bytes that a journal has at least before it is cut.
LEAST = 8 * 2**20


class Checkpoints:
    """
    Writes a checkpoint of each shard whose journal is as long as its last one, one at a time.

    It is computed from what Redis holds, while the shard works on. So the
    journal, and what the next holder of the shard must read, are bounded by the size of the shard.
    """

    def __init__(
        self,
        server: Server,
        record: JobRecord,
        shards: dict[int, ActiveShard],
        least: int = LEAST,
    ) -> None:
        self._server = server
        self._record = record
        self._shards = shards
        self._least = least
        self._due = Event()
        self._writing = gevent.spawn(self._write_due)

    def look(self) -> None:
        """Begin if a journal is long enough."""
        if any(map(self._is_due, self._shards.values())):
            self._due.set()

    def close(self) -> None:
        self._writing.kill()

    def write(self, shard: ActiveShard) -> bool:
        """Write a checkpoint of *shard*; return False if another has the shard, or Redis has forgotten it."""
        loaded = load(self._server, self._record, shard.number, shard.seq)
        slot, size, number = 1 - loaded.slot, 0, 0
        for number, piece in enumerate(pieces(loaded.state), 1):
            if not self._send(shard, slot, number - 1, piece, loaded.state.seq):
                return False
            size += len(piece)
            give_way()
        if not self._send(shard, slot, number, b"", loaded.state.seq):
            return False
        shard.slot, shard.checkpoint_bytes = slot, size
        shard.journal_bytes -= loaded.journal_bytes
        return True

    def _is_due(self, shard: ActiveShard) -> bool:
        return shard.journal_bytes > max(self._least, shard.checkpoint_bytes)

    def _write_due(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            for shard in [one for one in self._shards.values() if self._is_due(one)]:
                try:
                    self.write(shard)
                except (RedisAway, ValueError) as error:
                    # The next answer begins it again, if the shard is still ours then.
                    log.debug("the checkpoint of shard %d failed: %s", shard.number, error)

    def _send(self, shard: ActiveShard, slot: int, number: int, piece: bytes, seq: int) -> bool:
        keys, own = self._record.keys, shard.number
        names = [keys.job, keys.leases[own], keys.journals[own]]
        names += [keys.checkpoints[own][1 - slot], keys.checkpoints[own][slot]]
        args = [self._server.life, shard.token, number, piece, seq, slot]
        answer = self._server.patiently(lambda: self._server.call("checkpoint", names, *args))
        return bool(answer == b"OK") and not shard.is_dropped
