"""Keys: the names of a job's keys in Redis."""

from __future__ import annotations

import re

#: What the names of all keys begin with.
PREFIX = "crawler:"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


class Keys:
    """
    The keys of one *job*, which are all in one slot of a Redis Cluster.

    There are *shards* shards, numbered from 0, and one more behind them for the first requests.
    """

    def __init__(self, job: str, shards: int = 0) -> None:
        if not _NAME.fullmatch(job):
            raise ValueError(
                f"{job!r:.200} cannot be the name of a job: letters, digits, '.', '_' and '-' can"
            )
        self.name = job
        self.shards = shards
        self._start = f"{PREFIX}{{{job}}}:"
        self.job = f"{self._start}job"
        self.log = f"{self._start}log"
        self.here = f"{self._start}here"
        self.collector = f"{self._start}collector"
        self.quota = f"{self._start}quota"
        #: A stream that has something new when the status of the job, its schedulers or the shards that are
        #: free have changed.
        self.changes = f"{self._start}cmd"
        #: Of each shard, and of the first requests.
        self.leases = [self._of("lease", shard) for shard in range(shards + 1)]
        self.inboxes = [self._of("in", shard) for shard in range(shards + 1)]
        self.journals = [self._of("journal", shard) for shard in range(shards + 1)]
        #: Of each shard two, one for its checkpoint and one for the next that is being written.
        self.checkpoints = [
            (self._of("check:a", shard), self._of("check:b", shard)) for shard in range(shards + 1)
        ]

    def answer(self, question: str) -> str:
        """Return the key that the answer to a *question* is put into; it expires by itself."""
        return f"{self._start}answer:{question}"

    @property
    def all(self) -> list[str]:
        own = [self.job, self.log, self.here, self.collector, self.quota, self.changes]
        checkpoints = [key for pair in self.checkpoints for key in pair]
        return [*own, *self.leases, *self.inboxes, *self.journals, *checkpoints]

    def _of(self, kind: str, shard: int) -> str:
        return f"{self._start}{kind}:{shard}"
