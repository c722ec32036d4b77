"""ShardBatch: what a shard has decided since its last batch, all for one commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data import Link
from ..errors import ClusterError
from .blob import as_text, pack
from .fold import Row


class ShardBatch:
    """
    The next batch of one shard.

    *rows* go to its journal, *log*, as texts, to the collector, *outbox* has by target shard what goes to
    the inboxes of others, and *links* the URLs that do, by target, depth and page. *keep_from* is
    the first entry of its own inbox that was not read.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.log: list[str] = []
        self.log_bytes = 0
        self.outbox: dict[int, list[Any]] = {}
        self.links: dict[tuple[int, int, str], list[str]] = {}
        self.keep_from = ""
        self.inbox_bytes = 0

    def __bool__(self) -> bool:
        return bool(self.rows or self.log or self.outbox or self.links or self.keep_from)

    def add_end(self, entry: str) -> int:
        """Add a page that has ended, for the collector; return its size."""
        self.log.append(entry)
        self.log_bytes += len(entry)
        return len(entry)

    def send_link(self, target: int, link: Link) -> None:
        """Put *link* into the inbox of the shard *target*, beside the others of its page."""
        page = (target, link.depth, link.found_on or link.url)
        self.links.setdefault(page, []).append(link.url)

    def read(self, entry: str, size: int) -> None:
        """Note that the *entry* of the inbox, of *size* bytes, was read: its links are in the rows."""
        stamp, _, number = entry.partition("-")
        self.keep_from = f"{stamp}-{int(number) + 1}"
        self.inbox_bytes += size

    def sent(self) -> dict[int, list[Any]]:
        """Return by target all that goes to the inboxes of others."""
        found = dict(self.outbox)
        for (target, depth, page), urls in self.links.items():
            found.setdefault(target, []).append([depth, page, urls])
        return found


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
        check_counts(shard, counts["counts"], counts["counts"]["pending"])
        self.shard = shard
        self.token = token
        self.seq = seq
        self.begun = counts.get("frontier", {}).get("begun", 0)
        self.pending: int = counts["counts"]["pending"]
        self.keep_from = batch.keep_from
        self.rows = pack(batch.rows)
        self.sent = batch.sent()
        self.links_sent = sum(links_in(what) for some in self.sent.values() for what in some)
        self.log = batch.log
        self.args = [
            *(shard, token, seq, self.rows, batch.keep_from, batch.inbox_bytes, self.pending),
            as_text(counts),
        ]


def links_in(what: Any) -> int:
    """Return how many links are in a part of an inbox entry: those of a page, a request, or none."""
    if isinstance(what, list):
        return len(what[2])
    return int("request" in what or "hop" in what)


def check_counts(shard: int, counts: Mapping[str, Any], outstanding: int) -> None:
    """Raise ClusterError unless each URL that was admitted in *shard* has ended or is *outstanding*."""
    ended = counts["done"] + sum(counts["failed"].values()) + sum(counts["refused"].values())
    if counts["admitted"] != ended + counts["pending"] or counts["pending"] != outstanding:
        raise ClusterError(
            f"shard {shard} does not add up: {dict(counts)} with {outstanding} outstanding; "
            "remove the job with `crawler cluster rm` and begin again"
        )
