"""Inboxes: what other shards send to the shards of this process."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import gevent

from ..errors import RedisAway
from .active_shard import ActiveShard, has_enough
from .server import Server

log = logging.getLogger(__name__)

#: Milliseconds that one read waits for entries; and entries of an inbox that are read at a time.
_BLOCK = 5000
_COUNT = 20
_AWAY_WAIT = 0.2
#: Seconds that entries are gathered if enough requests wait: fewer reads cost less.
_GATHER = 0.5


class Inboxes:
    """
    Reads the inboxes of all *shards*, on a connection of its own; and sees changes of the job.

    They are always read, unless a shard is being given back: admission is elastic, so two schedulers with full inboxes cannot
    block each other. *on_change* is called when the job's status, its schedulers or the shards that
    are free may have changed, *on_caught_up* when a shard that was loaded may be taken from.
    """

    def __init__(
        self,
        server: Server,
        shards: dict[int, ActiveShard],
        on_change: Callable[[], object],
        on_caught_up: Callable[[], object],
    ) -> None:
        #: How many links were admitted, and how many turned away.
        self.received: Counter[str] = Counter(admitted=0, turned_away=0)
        self._server = server
        self._shards = shards
        self._on_change = on_change
        self._on_caught_up = on_caught_up
        self._last_change = "0-0"
        #: Whether a read waits for entries, of the shards that there were when it began.
        self._is_waiting = False
        self._reading = gevent.spawn(self._read)

    def wake(self) -> None:
        """Note that there is one shard more."""
        if self._is_waiting:
            self._is_waiting = False
            self._reading.kill(block=False)
            self._reading = gevent.spawn(self._read)

    def close(self) -> None:
        self._reading.kill()
        self._server.close()

    def _read(self) -> None:
        while True:
            try:
                self._read_once()
                if has_enough(self._shards.values()):
                    gevent.sleep(_GATHER)
            except RedisAway:
                gevent.sleep(_AWAY_WAIT)

    def _read_once(self) -> None:
        names = self._server.keys.inboxes
        shards = [shard for shard in self._shards.values() if not shard.is_draining]
        asked = {names[shard.number].encode(): shard for shard in shards}
        changes = self._server.keys.changes.encode()
        after = {name: shard.last_read for name, shard in asked.items()}
        after[changes] = self._last_change
        behind = [shard for shard in shards if not shard.is_caught_up]
        wait = None if behind else _BLOCK
        self._is_waiting = not behind
        found = dict(self._server.ask(lambda c: c.xread(after, count=_COUNT, block=wait)) or ())
        self._is_waiting = False
        for entry, _ in found.pop(changes, ()):
            self._last_change = entry.decode()
            self._on_change()
        for name, some in found.items():
            self._receive(asked[name], some)
        for shard in behind:
            if len(found.get(names[shard.number].encode(), ())) < _COUNT:
                shard.is_caught_up = True
                self._on_caught_up()

    def _receive(self, shard: ActiveShard, entries: Iterable[Any]) -> None:
        for entry, fields in entries:
            if not shard.is_dropped:
                self.received.update(shard.receive(entry.decode(), fields[b"links"]))
