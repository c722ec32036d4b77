"""
Many schedulers on one job, through Redis.

The hosts of a job are hashed to shards. A scheduler holds the leases of some shards, and has a
frontier for each. What the frontiers decide is committed to Redis, whose history is the only
truth: a scheduler keeps nothing that matters on its disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy_import import lazy_names

if TYPE_CHECKING:
    from .crawling import collect, crawl, stream

__all__ = ["collect", "crawl", "stream"]

__getattr__ = lazy_names(__name__, dict.fromkeys(__all__, "crawling"))
