"""ClusterCommits: the batches of all shards of this process, sent together in one call."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gevent
from gevent.event import Event
from gevent.lock import Semaphore

from ..errors import ClusterError, CrawlerError
from ..frontier.durable.durations import Durations
from .active_shard import ActiveShard, has_enough
from .batch import SealedBatch
from .blob import pack, pack_texts
from .keys import Keys
from .server import Server

#: Seconds, ended pages and bytes of them after which a call is sent, whichever comes first; the seconds
#: are more if enough waits here, so that nobody is in need of links: fewer calls cost less.
_SECONDS = 0.05
_MORE_SECONDS = 0.5
GROUP = 256
_GROUP_BYTES = 4 * 2**20
#: How many ended pages, and bytes of them, may wait for Redis before no more requests are taken.
_MOST_UNWRITTEN = 512
_MOST_BYTES = 64 * 2**20
#: Bytes that an inbox, and the log, may have before no more requests are taken; and seconds
#: until Redis is asked again whether they still have.
INBOX_BOUND = 32 * 2**20
LOG_BOUND = 256 * 2**20
_FULL_WAIT = 0.5


class Call:
    """
    What is sent in one call: a batch of each shard that has changed.

    It is sent as it is until it is answered, except for shards that the answer names as lost.
    """

    def __init__(self, batches: Mapping[int, SealedBatch]) -> None:
        self.id = secrets.token_hex(8)
        self.batches = dict(batches)

    @property
    def may_finish(self) -> bool:
        """Whether no shard of the call has work left, or gives any to others."""
        return not any(batch.pending or batch.sent for batch in self.batches.values())

    def keys_and_args(
        self, keys: Keys, life: str, bounds: tuple[int, int], *, looks: bool
    ) -> tuple[list[str], list[Any]]:
        """Return the keys and arguments of the script, which *looks* at all shards if asked."""
        batches, sent = self.batches.values(), self._sent()
        names = [keys.job, keys.log, keys.changes]
        for number in self.batches:
            names += (keys.leases[number], keys.inboxes[number], keys.journals[number])
        for number in (*sent, *(range(len(keys.leases)) if looks else ())):
            names += (keys.leases[number], keys.inboxes[number])
        log = [entry for batch in batches for entry in batch.log]
        return names, [
            *(life, self.id, len(batches), len(sent), *bounds, pack_texts(log) if log else b""),
            *(value for batch in batches for value in batch.args),
            *map(pack, sent.values()),
        ]

    def _sent(self) -> dict[int, list[Any]]:
        """Return by target what the inbox of each gets: one entry, for few commands of the server."""
        found: dict[int, list[Any]] = {}
        for batch in self.batches.values():
            for target, what in batch.sent.items():
                found.setdefault(target, []).extend(what)
        return found


class ClusterCommits:
    """
    Gathers what the shards have decided, and commits it in groups; one call at a time.

    A shard that Redis does not know under its token and number any more is *dropped*: what it
    has not committed is done again by the scheduler that loads it. *verify* is called when the server was
    restarted: it drops the shards that are ahead of Redis. *on_failure* is called when nothing can be committed
    any more.
    """

    def __init__(
        self,
        server: Server,
        shards: dict[int, ActiveShard],
        *,
        drop: Callable[[ActiveShard], object],
        verify: Callable[[Call], object],
        bounds: tuple[int, int] = (INBOX_BOUND, LOG_BOUND),
    ) -> None:
        self.on_failure: Callable[[CrawlerError], object] = bool
        self.on_status: Callable[[str], object] = bool
        self.on_answer: Callable[[], object] = bool
        #: Set unless an inbox or the log is over its bound.
        self.has_space = Event()
        self.has_space.set()
        self.failure: CrawlerError | None = None
        #: How many links are in the inboxes of other shards, or were.
        self.links_sent = 0
        self._durations = Durations()
        self._server = server
        self._shards = shards
        self._drop = drop
        self._verify = verify
        self._bounds = bounds
        self._turn = Semaphore()
        self._due = Event()
        self._full = Event()
        self._written = Event()
        self._unwritten = 0
        self._unwritten_bytes = 0
        self._closing = False
        self._writing = gevent.spawn(self._write_calls)

    def measured(self) -> dict[str, Any]:
        """Return how long commits took, and how many ended pages wait for the next one."""
        return {"target": "redis", "uncommitted": self._unwritten} | self._durations.figures()

    def changed(self, size: int) -> None:
        """Have the batches sent soon; one more page of *size* bytes has ended, unless that is 0."""
        if size:
            self._unwritten += 1
            self._unwritten_bytes += size
            if self._unwritten >= GROUP or self._unwritten_bytes >= _GROUP_BYTES:
                self._full.set()
        self._due.set()

    def wait_for_room(self) -> None:
        """Wait while more pages have ended than a crash may undo, or Redis has no space."""
        while self._is_behind and self.failure is None:
            self._written.clear()
            self._full.set()
            self._written.wait()
        self.has_space.wait()

    @property
    def _is_behind(self) -> bool:
        return self._unwritten >= _MOST_UNWRITTEN or self._unwritten_bytes >= _MOST_BYTES

    def write(self) -> None:
        """Send what there is, and wait for the answer."""
        with self._turn:
            self._unwritten = self._unwritten_bytes = 0
            self._due.clear()
            self._full.clear()
            try:
                if self.failure is None:
                    self._send_all()
            except CrawlerError as error:
                self._fail(error)
            finally:
                self._written.set()

    def compare(self) -> None:
        """Compare all shards with a server that was restarted, between two calls."""
        with self._turn:
            self._verify(Call({}))

    def close(self) -> None:
        """Send what is left."""
        self._closing = True
        self._due.set()
        self._full.set()
        self.has_space.set()
        self._writing.join()
        self.write()

    def _write_calls(self) -> None:
        while self.failure is None and not self._closing:
            self._due.wait(None if self.has_space.is_set() else _FULL_WAIT)
            self._full.wait(self._patience)
            self.write()

    @property
    def _patience(self) -> float:
        return _MORE_SECONDS if has_enough(self._shards.values()) else _SECONDS

    def _send_all(self) -> None:
        """Send all that there is now: in one call, unless that is too large for the server."""
        changed = self._changed()
        self._send(self._gather(changed))
        while changed:
            self._send(self._gather(changed))

    def _changed(self) -> list[ActiveShard]:
        return [shard for shard in self._shards.values() if shard.journal.batch]

    def _gather(self, changed: list[ActiveShard]) -> Call:
        """Return a call with the batches of the shards *changed*, which are removed from there."""
        batches: dict[int, SealedBatch] = {}
        size = 0
        while changed and size < _GROUP_BYTES:
            shard = changed.pop()
            if shard.journal.batch:  # else it was dropped
                size += shard.journal.batch.log_bytes
                batches[shard.number] = shard.seal()
        return Call(batches)

    def _send(self, call: Call) -> None:
        if not call.batches and self.has_space.is_set():
            return
        with self._durations.measured():
            self._send_until_answered(call)

    def _send_until_answered(self, call: Call) -> None:
        while True:
            looks = call.may_finish or not self.has_space.is_set()
            names, args = call.keys_and_args(
                self._server.keys, self._server.life, self._bounds, looks=looks
            )
            state, *rest = self._server.patiently(
                partial(self._server.call, "commit", names, *args)
            )
            if state == b"OK":
                self._answered(call, *rest)
                return
            if state == b"LIFE":
                self._verify(call)
            elif state == b"LOST":
                for number in map(int, rest):
                    self.lose(call, number)
                if not call.batches:
                    return
            else:
                raise ClusterError(f"a commit was answered {state!r}")

    def lose(self, call: Call, number: int) -> None:
        """Take a shard out of *call* that Redis knows otherwise, and drop it."""
        batch = call.batches.pop(number, None)
        shard = self._shards.get(number)
        if shard is not None and (batch is None or shard.token == batch.token):
            self._drop(shard)

    def _answered(self, call: Call, status: bytes | None, full: int) -> None:
        for number, batch in call.batches.items():
            self.links_sent += batch.links_sent
            shard = self._shards.get(number)
            if shard is not None and shard.token == batch.token:
                shard.answered(batch)
        if full and not self._closing:
            self.has_space.clear()
        else:
            self.has_space.set()
        self.on_answer()
        self.on_status((status or b"").decode())

    def _fail(self, error: CrawlerError) -> None:
        self.failure = error
        self.has_space.set()
        self.on_failure(error)
