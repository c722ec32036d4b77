"""RequestQueue: the requests that wait for one host."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from ...data import Link, Request

#: How many used places a queue may keep at its start before they are removed.
_SLACK = 32

_rank = attrgetter("rank")


class RankQueue:
    """
    The requests of one rank, first come, first served.

    A link is kept as two references, its URL and the page it was found on, and becomes a
    request when it is taken out: millions may wait, for thousands of hosts.
    """

    __slots__ = ("_data", "_next", "rank")

    def __init__(self, rank: tuple[int, int]) -> None:
        self.rank = rank
        self._data: list[Any] = []
        self._next = 0

    def put(self, found: Request | Link) -> None:
        self._data += (found,) if isinstance(found, Request) else (found.url, found.found_on)

    def put_first(self, request: Request) -> None:
        self._data.insert(self._next, request)

    def get(self) -> Request:
        head = self._pop()
        if isinstance(head, Request):
            return head
        return Request(head, depth=-self.rank[1], found_on=self._pop())

    def last(self) -> Request | None:
        """Return the request at the end; None if a link is there."""
        last = self._data[-1]
        return last if isinstance(last, Request) else None

    def remove_last(self) -> None:
        self._data.pop()

    def __bool__(self) -> bool:
        return self._next < len(self._data)

    def _pop(self) -> Any:
        datum = self._data[self._next]
        self._data[self._next] = None
        self._next += 1
        if self._next > _SLACK and self._next * 2 > len(self._data):
            del self._data[: self._next]
            self._next = 0
        return datum


class RequestQueue:
    """Hands requests out by priority, then depth, then age."""

    __slots__ = ("_rank_queues", "size")

    def __init__(self) -> None:
        #: Sorted by rank, the highest last: it is served first.
        self._rank_queues: list[RankQueue] = []
        #: The same as len(), but faster.
        self.size = 0

    def put(self, found: Request | Link) -> None:
        self._rank_queue((found.priority, -found.depth)).put(found)
        self.size += 1

    def put_first(self, request: Request) -> None:
        """Add *request* before those of its rank."""
        self._rank_queue((request.priority, -request.depth)).put_first(request)
        self.size += 1

    def get(self) -> Request:
        highest = self._rank_queues[-1]
        request = highest.get()
        if not highest:
            self._rank_queues.pop()
        self.size -= 1
        return request

    def last(self) -> Request | None:
        """Return the request that would come last; None if the queue is empty, or it is a link."""
        return self._rank_queues[0].last() if self._rank_queues else None

    def remove_last(self) -> None:
        lowest = self._rank_queues[0]
        lowest.remove_last()
        if not lowest:
            del self._rank_queues[0]
        self.size -= 1

    def drain(self) -> Iterator[Request]:
        while self.size:
            yield self.get()

    @property
    def priority(self) -> int:
        """The priority of the next request."""
        return self._rank_queues[-1].rank[0] if self._rank_queues else 0

    def __len__(self) -> int:
        return self.size

    def _rank_queue(self, rank: tuple[int, int]) -> RankQueue:
        ranks = self._rank_queues
        if ranks and ranks[-1].rank == rank:
            return ranks[-1]
        place = bisect_left(ranks, rank, key=_rank)
        if place == len(ranks) or ranks[place].rank != rank:
            ranks.insert(place, RankQueue(rank))
        return ranks[place]
