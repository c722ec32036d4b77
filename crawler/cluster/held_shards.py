"""HeldShards: the shards that this process holds, from their claim until they are given back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import gevent

from ..data import Link, Request
from ..errors import RedisAway
from ..frontier import Outcome, refused
from ..frontier.hosts.wakeup import Wakeup
from .active_shard import ActiveShard
from .checkpoints import Checkpoints
from .commits import Call, ClusterCommits
from .comparison import is_there
from .fold import ShardState
from .job_record import JobRecord
from .journal import OTHER_SHARD
from .leases import LeaseTable
from .loading import Loaded, ShardMaker, load
from .server import Server
from .strikes import Strike

log = logging.getLogger(__name__)

#: Seconds between two looks at a shard whose last requests are in flight.
_LOOK = 0.05


class HeldShards:
    """
    Loads shards that were claimed, gives them back, and drops those that are another's now.

    *active* has by its number each shard that is worked on. *on_drop* is called with each
    request that is refused before it was taken, *on_load* with each shard that was loaded, *on_forget*
    with each that is not ours any more.
    """

    def __init__(
        self,
        server: Server,
        record: JobRecord,
        leases: LeaseTable,
        wakeup: Wakeup,
        active: dict[int, ActiveShard],
    ) -> None:
        self.active = active
        self.commits = ClusterCommits(server, self.active, drop=self.drop, verify=self._compare)
        self.checkpoints = Checkpoints(server, record, self.active)
        self.commits.on_answer = self.checkpoints.look
        self.on_drop: Callable[[Request, Outcome], object] = _ignore
        self.on_load: Callable[[ActiveShard], object] = bool
        self.on_forget: Callable[[ActiveShard], object] = bool
        self.maker: ShardMaker
        #: How many shards were another's when this process wrote to them, or renewed their leases.
        self.fenced = 0
        self._server = server
        self._record = record
        self._leases = leases
        self._wakeup = wakeup
        #: Shards that were dropped while requests of them were still in flight.
        self._orphans: list[ActiveShard] = []

    def figures(self) -> dict[str, Any]:
        """Return what the other processes see of the shards of this one; a thread calls it."""
        shards = list(self.active.values())
        return {
            "shards": len(shards),
            "done": sum(shard.frontier.view.counts().done for shard in shards),
            "in_flight": sum(shard.taken for shard in shards),
            "held": sorted(shard.number for shard in shards),
        }

    @property
    def kept(self) -> list[ActiveShard]:
        """The shards of hosts that are not being given back."""
        first = self._record.keys.shards
        shards = self.active.values()
        return [shard for shard in shards if shard.number != first and not shard.is_draining]

    def load(self, number: int, token: str, seq: int) -> None:
        """Fold the journal of a shard that was claimed, and begin to take from it."""
        loaded = load(self._server, self._record, number)
        if loaded.state.seq != seq or not self._leases.holds(number, token):
            self._leases.mine.pop(number, None)
            return
        self._activate(number, token, loaded)

    def send_first(
        self, number: int, token: str, seq: int, first: Iterable[Request | Link]
    ) -> None:
        """Send the *first* requests to their shards; the lease is then of no more use."""
        shard, sent = self._activate(number, token, Loaded(ShardState(seq=seq))), 0
        for request in first:
            shard.admit(request)
            sent += 1
        shard.journal.batch.rows.append(["s", sent])
        self.commits.changed(0)
        self.commits.write()
        if not shard.is_dropped:
            self._give_back(shard)

    def drain(self, share: int) -> None:
        """Give back the shards that are more than our *share*."""
        for shard in self.kept[share:]:
            shard.is_draining = True
            gevent.spawn(self._give_back_when_quiet, shard)

    def close(self) -> None:
        """Commit what is left, and give all shards back."""
        self.checkpoints.close()
        self.commits.close()
        for shard in list(self.active.values()):
            self._give_back(shard)

    def drop(self, shard: ActiveShard) -> None:
        """Let go of a shard that another has now; what was being analysed may be the cause."""
        marks = [one.journal.marks.marks for one in self.active.values()]
        is_alone = sum(map(len, marks)) == 1
        self.fenced += 1
        self.strike([Strike(mark, is_alone) for mark in shard.journal.marks.marks])
        self._give_up(shard)

    def strike(self, strikes: Iterable[Strike]) -> None:
        """Tell the shards of pages that a scheduler ended, or lost its leases, while it analysed them."""
        gevent.spawn(self.send_strikes, list(strikes))

    def send_strikes(self, strikes: Iterable[Strike]) -> None:
        """Do what strike() does, and return when Redis has it."""
        with suppress(RedisAway):  # this process ends
            for one in strikes:
                self._server.post(one.shard, {"strike": list(one)})

    def lose(self, number: int) -> None:
        """Note that another has the lease of the shard *number*."""
        shard = self.active.get(number)
        if shard is not None:
            self.drop(shard)
        else:
            self._leases.mine.pop(number, None)

    def is_orphaned(self, number: int) -> bool:
        """Return whether requests of an earlier holding of the shard are still in flight."""
        self._orphans = [orphan for orphan in self._orphans if orphan.taken]
        return any(orphan.number == number for orphan in self._orphans)

    def _activate(self, number: int, token: str, loaded: Loaded) -> ActiveShard:
        shard = self.active[number] = self.maker.make(number, token, loaded)
        shard.frontier.events.on_drop = self.on_drop
        self.on_load(shard)
        self._wakeup.wake()
        return shard

    def _give_back_when_quiet(self, shard: ActiveShard) -> None:
        while (shard.taken or shard.may_take) and not shard.is_dropped:
            gevent.sleep(_LOOK)
        self.commits.write()
        if not shard.is_dropped:
            self._give_back(shard)

    def _give_back(self, shard: ActiveShard) -> None:
        keys = self._record.keys
        self._forget(shard)
        self._server.call(
            "release", [keys.leases[shard.number], keys.changes], shard.token, shard.seq
        )

    def _give_up(self, shard: ActiveShard) -> None:
        log.info("shard %d is given up: it is loaded anew from Redis", shard.number)
        self._forget(shard)

    def _forget(self, shard: ActiveShard) -> None:
        if self.active.get(shard.number) is shard:
            del self.active[shard.number]
            self._leases.mine.pop(shard.number, None)
            self._orphans.append(shard)
        self.on_forget(shard)
        shard.drop()
        for request in shard.journal.awaited:  # the callback that waits for it asks the next holder
            self.on_drop(request, refused(OTHER_SHARD))
        self._wakeup.wake()

    def _compare(self, call: Call) -> None:
        """Drop the shards that Redis does not have as they were last answered: it has lost its end."""
        life = self._server.begin_life()
        for shard in list(self.active.values()):
            in_call = call.batches.get(shard.number)
            if not is_there(self._server, shard, in_call.seq if in_call is not None else None):
                call.batches.pop(shard.number, None)
                self._give_up(shard)
        self._server.life = life


def _ignore(_request: Request, _outcome: Outcome) -> None:
    """Do nothing: nobody listens."""
