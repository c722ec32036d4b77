"""StoredQueue: the part of a host's queue that is on disk only."""

from __future__ import annotations

from ...data import Request
from .rows import Rank

#: Before everything else.
START: Rank = (-(2**62), 0, 0)


class StoredQueue:
    """
    What waits for one host behind *rank*: *size* requests, in the store and not in memory.

    While the next of them are being read, what is found for the host waits in *arrived*.
    """

    __slots__ = ("arrived", "is_wanted", "rank", "size")

    def __init__(self, rank: Rank = START, size: int = 0) -> None:
        self.rank = rank
        self.size = size
        #: Whether it stands in the line of those to be read.
        self.is_wanted = False
        self.arrived: list[Request] | None = None
