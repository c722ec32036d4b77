"""ClusterCommits: the batches of all shards of this process, sent together in one call."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import gevent
from gevent.event import Event
from gevent.lock import Semaphore

from ..errors import ClusterError, CrawlerError
from .active_shard import ActiveShard
from .batch import SealedBatch
from .server import Server

#: Seconds and ended pages after which a call is sent, whichever comes first; the seconds are more
#: if enough waits here, so that nobody is in need of links: fewer calls cost less.
_SECONDS = 0.05
_MORE_SECONDS = 0.25
_ENOUGH = 100
GROUP = 64
#: How many ended pages may wait for Redis before no more requests are taken.
_MOST_UNWRITTEN = 256
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

    def args(
        self, leases: int, life: str, bounds: tuple[int, int], *, looks: bool = False
    ) -> list[Any]:
        """Return the arguments of the script, which *looks* at all inboxes if asked."""
        batches = self.batches.values()
        targets = [(t, blob) for batch in batches for t, blob in batch.targets.items()]
        numbers = [leases, len(self.batches), len(targets), *bounds, int(looks)]
        return [
            *(life, self.id, *numbers),
            *(value for batch in batches for value in batch.args),
            *(value for target in targets for value in target),
        ]


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
        self._closing = False
        self._writing = gevent.spawn(self._write_calls)

    def changed(self, is_end: bool) -> None:
        """Have the batches sent soon; *is_end* counts one more ended page."""
        if is_end:
            self._unwritten += 1
            if self._unwritten >= GROUP:
                self._full.set()
        self._due.set()

    def wait_for_room(self) -> None:
        """Wait while more pages have ended than a crash may undo, or Redis has no space."""
        while self._unwritten >= _MOST_UNWRITTEN and self.failure is None:
            self._written.clear()
            self._full.set()
            self._written.wait()
        self.has_space.wait()

    def write(self) -> None:
        """Send what there is, and wait for the answer."""
        with self._turn:
            self._unwritten = 0
            self._due.clear()
            self._full.clear()
            try:
                if self.failure is None:
                    self._send(self._gather())
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
        waiting = sum(len(shard.frontier.view) for shard in self._shards.values())
        return _MORE_SECONDS if waiting >= _ENOUGH else _SECONDS

    def _gather(self) -> Call:
        changed = [shard for shard in self._shards.values() if shard.journal.batch]
        return Call({shard.number: shard.seal() for shard in changed})

    def _send(self, call: Call) -> None:
        if not call.batches and self.has_space.is_set():
            return
        keys = self._server.keys
        names = [keys.job, keys.log, *keys.leases, *keys.inboxes, *keys.journals]
        while True:
            looks = not (call.batches and self.has_space.is_set())
            args = call.args(len(keys.leases), self._server.life, self._bounds, looks=looks)
            state, *rest = self._server.patiently(
                lambda args=args: self._server.call("commit", names, *args)  # type: ignore[misc]
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
        if shard is not None and (batch is None or shard.token == batch.args[1]):
            self._drop(shard)

    def _answered(self, call: Call, status: bytes | None, full: int) -> None:
        for number, batch in call.batches.items():
            shard = self._shards.get(number)
            if shard is not None and shard.token == batch.args[1]:
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
