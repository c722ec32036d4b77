"""ShardBatch: what a shard has decided since its last batch, all for one commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .blob import pack
from .fold import Row


class ShardBatch:
    """
    The next batch of one shard.

    *rows* go to its journal, *log* to the collector, *outbox* has by target shard what goes to
    the inboxes of others. *keep_from* is the first entry of its own inbox that was not read.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.log: list[Any] = []
        self.outbox: dict[int, list[Any]] = {}
        self.keep_from = ""
        self.inbox_bytes = 0
        self.steps = 0

    def __bool__(self) -> bool:
        return bool(self.rows or self.log or self.outbox or self.keep_from)

    def read(self, entry: str, size: int) -> None:
        """Note that the *entry* of the inbox, of *size* bytes, was read: its links are in the rows."""
        stamp, _, number = entry.partition("-")
        self.keep_from = f"{stamp}-{int(number) + 1}"
        self.inbox_bytes += size


class SealedBatch:
    """A batch as it is sent, under its number; it never changes any more."""

    def __init__(
        self,
        shard: int,
        token: str,
        seq: int,
        batch: ShardBatch,
        counts: Mapping[str, Any],
    ) -> None:
        self.shard = shard
        self.seq = seq
        self.steps = batch.steps
        self.begun = counts.get("frontier", {}).get("begun", 0)
        self.targets = {target: pack(links) for target, links in batch.outbox.items()}
        self.args = [
            shard,
            token,
            seq,
            pack(batch.rows),
            batch.keep_from,
            batch.inbox_bytes,
            counts["counts"]["pending"],
            json.dumps(counts, separators=(",", ":")),
            pack(batch.log) if batch.log else b"",
        ]
