"""StoredQueues: requests that wait in the store only, host by host, and how they come back."""

from __future__ import annotations

import logging
from collections import deque

import gevent

from ..._give_way import give_way
from ...data import Link, Request
from ..hosts.host import Host
from ..hosts.overflow import Receiver
from ..outcome import failed
from .awaited import AwaitedRequests
from .group_commit import GroupCommit
from .recovery import Recovered
from .rows import Rank, Row, ended, number_of, rank_of, request_of
from .store import Store

log = logging.getLogger(__name__)

#: Requests that wait in memory; what comes after them stays in the store.
WINDOW = 50_000
#: How many requests of a host are read at a time, at most; and at least, if there are few hosts.
_MOST_READ = 500
_LEAST_READ = 16
#: How many hosts are read together.
_HOSTS_READ = 64
#: Before everything else.
_START: Rank = (-(2**62), 0, 0)


class _StoredQueue:
    """
    What waits for one host behind *rank*, in the store and not in memory.

    While the next of it is being read, what is found for the host waits in *arrived*.
    """

    __slots__ = ("arrived", "is_wanted", "rank")

    def __init__(self, rank: Rank = _START) -> None:
        self.rank = rank
        #: Whether it is to be read.
        self.is_wanted = False
        self.arrived: list[Request] | None = None


class StoredQueues:
    """
    Implements Overflow: keeps at most a *window* of requests in memory.

    A host keeps a few requests in memory in any case, only one if there are more hosts than the
    window has places. When there are too many of it, the end of its queue is forgotten there: it
    is in the store anyway. What is needed next is read in a greenlet of its own, which ends when
    nothing is wanted.
    """

    def __init__(
        self, store: Store, commits: GroupCommit, awaited: AwaitedRequests, window: int
    ) -> None:
        self.size = 0
        self.window = window
        self._store = store
        self._commits = commits
        self._awaited = awaited
        self._receiver: Receiver
        self._queues: dict[str, _StoredQueue] = {}
        #: The ids of all that is in memory: what waits, and what is taken.
        self._in_memory: set[str] = set()
        self._wanted: deque[Host] = deque()
        self.reading: gevent.Greenlet[..., None] | None = None
        #: The ids of those that have ended since the reading began.
        self._ended: set[str] = set()
        self._has_index = False
        self._closed = False
        #: What a journal has found of an earlier process.
        self.found: Recovered | None = None

    def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        if self.found is None:
            return
        for row in self.found.waiting:
            self._take_in(row)
        self.found.waiting.clear()
        for name, number in self.found.by_host.items():
            host = receiver.host_named(name)
            self._queues[name] = _StoredQueue()
            self._add(host, number)
            self._has_index = True
            self.refill(host)

    def keeps(self, host: Host, found: Request | Link) -> bool:
        queue = self._queues.get(host.name)
        if queue is None or not isinstance(found, Request) or found.id in self._in_memory:
            return False
        if queue.arrived is not None:
            queue.arrived.append(found)
            self.size += 1
            return True
        if rank_of(found) <= queue.rank:
            return False
        self._add(host, 1)
        return True

    def entered(self, host: Host, found: Request | Link) -> None:
        if isinstance(found, Request):
            self._in_memory.add(found.id)
            if self._receiver.in_memory > self.window:
                self._make_room(host)

    def left(self, request: Request) -> None:
        """Note that *request* has ended."""
        self._in_memory.discard(request.id)
        if self.reading is not None:
            self._ended.add(request.id)

    def refill(self, host: Host) -> None:
        queue = self._queues.get(host.name)
        if queue is None or queue.is_wanted or host.queue.size > self._least // 2:
            return
        queue.is_wanted = True
        self._wanted.append(host)
        if self.reading is None and not self._closed:
            self.reading = gevent.spawn(self._read)

    def close(self) -> None:
        """Read nothing more; a reading that has begun comes to its end, because it commits too."""
        self._closed = True
        if self.reading is not None:
            self.reading.join()

    @property
    def _least(self) -> int:
        """How many requests of a host may be in memory, however many there are in all."""
        return max(1, min(_LEAST_READ, self.window // max(1, self._receiver.hosts)))

    # -- making room --------------------------------------------------------------------------

    def _make_room(self, host: Host) -> None:
        """Let the second half of what waits for *host* be in the store only."""
        queue = host.queue
        least = max(self._least, queue.size // 2)
        stored = self._queues.get(host.name)
        if stored is not None and stored.arrived is not None:
            return
        while queue.size > least and (last := queue.last()) is not None:
            if not self._is_at_its_rank(last):
                break
            if self._receiver.forget_last(host, last):
                self._put_away(host, last)
        if host.name in self._queues and not self._has_index:
            self._has_index = True
            gevent.spawn(self._build_index)

    def _is_at_its_rank(self, request: Request) -> bool:
        """Return whether the row of *request* would be found in the store by its host and rank."""
        return not (request.redirects or request.attempts or request.id in self._awaited)

    def _put_away(self, host: Host, request: Request) -> None:
        rank = rank_of(request)
        before = (*rank[:2], rank[2] - 1)
        queue = self._queues.setdefault(host.name, _StoredQueue(before))
        queue.rank = min(queue.rank, before)
        self._add(host, 1)
        self._in_memory.discard(request.id)

    def _build_index(self) -> None:
        try:
            self._store.build_index()
        except Exception as error:  # without it, reading would take too long to be of use
            self._commits.fail(error)

    def _add(self, host: Host, number: int) -> None:
        host.stored += number
        self.size += number

    # -- reading ------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            while self._wanted and not self._closed:
                number = min(len(self._wanted), _HOSTS_READ)
                self._read_some([self._wanted.popleft() for _ in range(number)])
        except Exception as error:  # whatever it is, what is stored would wait for ever
            self._commits.fail(error)
        finally:
            self.reading = None

    def _read_some(self, hosts: list[Host]) -> None:
        room = (self.window - self._receiver.in_memory) // len(hosts)
        most = max(self._least, min(_MOST_READ, room))
        wanted = [(host, self._queues[host.name]) for host in hosts if host.name in self._queues]
        self._ended.clear()
        for _, queue in wanted:
            queue.arrived = []
        self._commits.write()
        found = self._store.next([(host.name, queue.rank, most) for host, queue in wanted])
        for (host, queue), rows in zip(wanted, found, strict=True):
            give_way()  # what is read may be refused, hundreds at a time
            self._fill(host, queue, rows, is_all=len(rows) < most)

    def _fill(self, host: Host, queue: _StoredQueue, rows: list[Row], *, is_all: bool) -> None:
        arrived, queue.arrived, queue.is_wanted = queue.arrived or [], None, False
        fresh = [row for row in rows if not self._is_known(f"{row.id:x}")]
        if rows:
            queue.rank = rows[-1].rank
        late = {number_of(request): request for request in arrived}
        from_store = sum(row.id not in late for row in fresh)
        self._add(host, -(host.stored if is_all else from_store))
        if host.stored <= 0:
            del self._queues[host.name]
        self.size -= len(arrived)
        for row in fresh:
            late.pop(row.id, None)
            self._take_in(row)
        for request in late.values():
            self._receiver.bring_back(request, host)
        self.refill(host)

    def _take_in(self, row: Row) -> None:
        """Bring one row back into memory, or set it aside if no request can be made of it."""
        try:
            request = request_of(row) if row.is_whole else None
        except (ValueError, TypeError, KeyError) as error:
            log.warning("%s cannot be continued: %s", row.url, error)
            request = None
        if request is None:
            self._commits.batch.ends.append(ended(row.id, failed("damaged")))
            self._commits.stepped()
            self._receiver.set_aside(row.url)
            return
        self._in_memory.add(request.id)
        self._receiver.bring_back(request)

    def _is_known(self, id_: str) -> bool:
        return id_ in self._in_memory or id_ in self._ended
