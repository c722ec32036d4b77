"""ActiveShard: a shard that this process holds the lease of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..data import Link, Links, Request
from ..frontier import Taken
from ..frontier.contract import ShardContract
from ..serialization import request_from_dict
from .batch import SealedBatch, links_in
from .blob import unpack
from .journal import OTHER_SHARD, ClusterJournal
from .shards import ShardMap
from .strikes import Strike

#: Requests that are fetched in more than a moment.
_ENOUGH = 100


class ActiveShard:
    """
    One shard with its *token*, its frontier and its journal, from loading until it is dropped.

    All that is known of the shard is here, so that dropping it leaves no trace: what ends
    under its token later changes a frontier that nobody takes from, and a journal that is never
    sent. *seq* is the number of its last batch that was answered.
    """

    def __init__(
        self,
        number: int,
        token: str,
        seq: int,
        journal: ClusterJournal,
        frontier: ShardContract,
        shards: ShardMap,
    ) -> None:
        self.number = number
        self.token = token
        self.seq = seq
        self.journal = journal
        self.frontier = frontier
        self.is_dropped = False
        #: Called with the id and the fields of a request that a callback of another process waits for.
        self.on_ask: Callable[[str, dict[str, Any]], object] = _ignore
        #: Whether it is given back, so that another scheduler can have it.
        self.is_draining = False
        #: Whether what its inbox had when it was loaded was read: strikes against its pages may be there.
        self.is_caught_up = False
        #: The inbox entries that were read and are not committed, and the last one that was read.
        self.read: list[str] = []
        self.last_read = "0-0"
        #: Which of its two keys the checkpoint is in; the bytes of it, and of the journal since.
        self.slot = 1
        self.checkpoint_bytes = 0
        self.journal_bytes = 0
        #: How many pages were begun, as Redis has it.
        self.begun = 0
        self._shards = shards

    @property
    def begun_lately(self) -> int:
        """How many pages were begun since the last batch that was answered."""
        return max(0, self.frontier.view.begun - self.begun)

    @property
    def may_take(self) -> bool:
        """
        Whether requests may be taken: not before its inbox was read once.

        While it is given back, only as long as callbacks wait for some.
        """
        return self.is_caught_up and (not self.is_draining or len(self.journal.awaited) > 0)

    @property
    def taken(self) -> int:
        return self.frontier.view.taken

    def admit(
        self, found: Request | Link, page: Taken | None = None, *, is_awaited: bool = False
    ) -> str | None:
        """Let *found*, which was found in this shard, in here; or send it to its own shard."""
        if is_awaited and self._shards.of(found.url) not in (None, self.number):
            return OTHER_SHARD
        if is_awaited and page is None and isinstance(found, Request):
            return self.frontier.admit_guest(found)
        return self.frontier.admit(found, page, is_awaited=is_awaited)

    def receive(self, entry: str, blob: bytes) -> Counter[str]:
        """
        Let in what an *entry* of its inbox has, and note in the same step that it was read.

        Return how many of its links were admitted, and how many turned away.
        """
        parts, before = unpack(blob), self.frontier.view.counts().admitted
        for what in parts:
            self._let_in(what)
        admitted = self.frontier.view.counts().admitted - before
        self.journal.read(entry, len(blob))
        self.read.append(entry)
        self.last_read = entry
        return Counter(admitted=admitted, turned_away=sum(map(links_in, parts)) - admitted)

    def _let_in(self, what: Any) -> None:
        if isinstance(what, list):
            depth, found_on, urls = what
            self.frontier.admit_many(Links(urls, depth, found_on))
        elif "strike" in what:
            self.journal.struck(Strike(*what["strike"]))
        elif "ask" in what:
            self.on_ask(*what["ask"])
        elif "hop" in what:
            self.frontier.move_in(request_from_dict(what["hop"]))
        else:
            self.frontier.admit(request_from_dict(what["request"]))

    def seal(self) -> SealedBatch:
        """Return the next batch as it is sent."""
        batch, counts = self.journal.seal(), self.journal.figures()
        return SealedBatch(self.number, self.token, self.seq + 1, batch, counts)

    def answered(self, batch: SealedBatch) -> None:
        """Note that *batch* is in Redis."""
        self.seq = batch.seq
        self.journal_bytes += len(batch.rows)
        self.begun = batch.begun
        if batch.keep_from:
            self.read = [entry for entry in self.read if _is_after(entry, batch.keep_from)]

    def drop(self) -> None:
        self.is_dropped = True
        self.journal.drop()
        self.frontier.close()


def has_enough(shards: Iterable[ActiveShard]) -> bool:
    """Return whether so much waits in *shards* that their process needs no links for a moment."""
    return sum(len(shard.frontier.view) for shard in shards) >= _ENOUGH


def _is_after(entry: str, kept: str) -> bool:
    """Return whether *entry* is not before *kept*."""
    return tuple(map(int, entry.split("-"))) >= tuple(map(int, kept.split("-")))


def _ignore(_id: str, _request: dict[str, Any]) -> None:
    """Do nothing: nobody can fetch it."""
