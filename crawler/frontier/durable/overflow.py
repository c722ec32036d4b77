"""Overflow: what waits on disk only, host by host, and how it comes back."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

import gevent

from ...data import Request
from ..hosts.host import Host
from .rows import Row, number_of, rank_of, request_of
from .shelf import StoredQueue
from .store import Store

if TYPE_CHECKING:
    from .sqlite_journal import DurableFrontier

log = logging.getLogger(__name__)

#: Requests that wait in memory; what comes after them stays in the store.
WINDOW = 50_000
#: How many of a host are read at a time, at most and at least; and how few are left in
#: memory when more are asked for.
_MOST_READ = 500
_LEAST_READ = 16
_FEW = 8
#: How many hosts are read in one go.
_HOSTS_READ = 64


class Overflow:
    """
    Keeps what waits in memory down to a window; a host keeps a few requests in any case.

    What a host has in memory comes before its shelf, in the order of priority, depth and
    age; when there is too much of it, its end goes to the shelf: it is in the store anyway.
    What is needed next is read in a greenlet of its own, which ends when nothing is wanted.
    """

    def __init__(self, store: Store, frontier: DurableFrontier, window: int) -> None:
        self.size = 0
        self._store = store
        self._frontier = frontier
        self._window = window
        #: The ids of all that is in memory: what waits, and what is taken.
        self._here: set[str] = set()
        self._wanted: deque[Host] = deque()
        self._reading: gevent.Greenlet[..., None] | None = None
        #: The ids of those that have ended since the reading began.
        self._ended: set[str] = set()
        self._has_index = False

    def open(self, host: Host, size: int) -> None:
        """Let *size* requests of *host* be on its shelf, and nothing in memory."""
        host.shelf = StoredQueue(size=size)
        self.size += size
        self._has_index = True
        self.refill(host)

    def keep(self, host: Host, request: Request) -> bool:
        """Say if *request* stays on the shelf of *host*, because others come first."""
        shelf = host.shelf
        if shelf is None or request.id in self._here:
            return False
        if shelf.arrived is not None:
            shelf.arrived.append(request)
            self.size += 1
            return True
        if rank_of(request) <= shelf.rank:
            return False
        shelf.size += 1
        self.size += 1
        return True

    def entered(self, host: Host, request: Request) -> None:
        """Be told that *request* waits in memory, and make room if that is too much."""
        self._here.add(request.id)
        if self._frontier.in_memory > self._window:
            self._make_room(host)

    def leave(self, request: Request) -> None:
        """Be told that *request* has ended."""
        self._here.discard(request.id)
        if self._reading is not None:
            self._ended.add(request.id)

    def refill(self, host: Host) -> None:
        """Have more of *host* read if few are left in memory."""
        shelf = host.shelf
        if shelf is None or shelf.is_wanted or host.queue.size >= _FEW:
            return
        shelf.is_wanted = True
        self._wanted.append(host)
        if self._reading is None and not self._frontier.closed:
            self._reading = gevent.spawn(self._read)

    def take_in(self, row: Row) -> None:
        """Bring one row back into memory, or set it aside if no request can be made of it."""
        try:
            request = request_of(row) if row.is_whole else None
        except (ValueError, TypeError, KeyError) as error:
            log.warning("%s cannot be gone on with: %s", row.url, error)
            request = None
        if request is None:
            self._frontier.set_aside(row)
            return
        self._here.add(request.id)
        self._frontier.bring_in(request)

    def close(self) -> None:
        if self._reading is not None:
            self._reading.kill()

    def _make_room(self, host: Host) -> None:
        """Let the second half of what waits for *host* be on its shelf only."""
        queue = host.queue
        least = max(_LEAST_READ, queue.size // 2)
        if host.shelf is not None and host.shelf.arrived is not None:
            return
        while queue.size > least and (last := queue.last()) is not None:
            if not self._frontier.is_in_its_place(last):
                break
            if self._frontier.forget(host, last):
                self._put_away(host, last)
        if host.shelf is not None and not self._has_index:
            self._has_index = True
            gevent.spawn(self._store.build_index)

    def _put_away(self, host: Host, request: Request) -> None:
        rank = rank_of(request)
        before = (*rank[:2], rank[2] - 1)
        if host.shelf is None:
            host.shelf = StoredQueue(before)
        host.shelf.rank = min(host.shelf.rank, before)
        host.shelf.size += 1
        self.size += 1
        self._here.discard(request.id)

    # -- reading ------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            while self._wanted:
                number = min(len(self._wanted), _HOSTS_READ)
                self._read_some([self._wanted.popleft() for _ in range(number)])
        except Exception as error:  # whatever it is, what is on the shelves would wait for ever
            self._store.fail(error)
        finally:
            self._reading = None

    def _read_some(self, hosts: list[Host]) -> None:
        room = (self._window - self._frontier.in_memory) // len(hosts)
        most = max(_LEAST_READ, min(_MOST_READ, room))
        shelves = [(host, host.shelf) for host in hosts if host.shelf is not None]
        self._ended.clear()
        for _, shelf in shelves:
            shelf.arrived = []
        found = self._store.next([(host.name, shelf.rank, most) for host, shelf in shelves])
        for (host, shelf), rows in zip(shelves, found, strict=True):
            self._fill(host, shelf, rows, is_all=len(rows) < most)

    def _fill(self, host: Host, shelf: StoredQueue, rows: list[Row], *, is_all: bool) -> None:
        arrived, shelf.arrived, shelf.is_wanted = shelf.arrived or [], None, False
        fresh = [row for row in rows if not self._is_known(f"{row.id:x}")]
        if rows:
            shelf.rank = rows[-1].rank
        late = {number_of(request): request for request in arrived}
        from_shelf = sum(row.id not in late for row in fresh)
        self._take_off(host, shelf, shelf.size if is_all else from_shelf)
        self.size -= len(arrived)
        for row in fresh:
            late.pop(row.id, None)
            self.take_in(row)
        for request in late.values():
            self._frontier.bring_in(request, on=host)
        self.refill(host)

    def _take_off(self, host: Host, shelf: StoredQueue, number: int) -> None:
        shelf.size -= number
        self.size -= number
        if shelf.size <= 0:
            host.shelf = None

    def _is_known(self, id_: str) -> bool:
        return id_ in self._here or id_ in self._ended
