"""SpilledQueues: requests of a shard that do not fit in memory, in a temporary file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

import gevent

from .._give_way import give_way
from ..data import Link, Request
from ..frontier.durable.awaited import AwaitedRequests
from ..frontier.durable.rows import Rank, rank_of
from ..frontier.hosts.host import Host
from ..frontier.hosts.overflow import Receiver
from .fold import Row, admitted, request_of

#: Requests of one shard that wait in memory.
WINDOW = 10_000
#: How many requests of a host are read at a time, at most; and at least, if there are few hosts.
_MOST_READ = 500
_LEAST_READ = 16
_TABLE = """
CREATE TABLE waiting (host TEXT, priority INTEGER, depth INTEGER, id INTEGER, row TEXT,
    PRIMARY KEY (host, priority, depth, id)) WITHOUT ROWID
"""
_FIRST = "FROM waiting WHERE host = ? ORDER BY priority, depth, id LIMIT ?"
_FORGET = "DELETE FROM waiting WHERE host = ? AND priority = ? AND depth = ? AND id = ?"


class SpilledQueues:
    """
    Implements Overflow: keeps at most a *window* of requests in memory.

    What comes behind them waits in a file that has no name and ends with the process: it is a cache,
    since Redis has all of it. *waiting* are the rows that the shard was loaded with.
    """

    def __init__(
        self, waiting: Iterable[Row], awaited: AwaitedRequests, window: int = WINDOW
    ) -> None:
        self.size = 0
        self._waiting = waiting
        self._awaited = awaited
        self._window = window
        self._receiver: Receiver
        #: By host, the first rank that is in the file.
        self._first: dict[str, Rank] = {}
        self._file: sqlite3.Connection | None = None
        self._is_closed = False
        #: Hosts of which more is read by a greenlet.
        self._reading: set[str] = set()

    def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        for row in self._waiting:
            request = request_of(row)
            receiver.bring_back(request, receiver.host_of(request.url))
        self._waiting = ()

    def keeps(self, host: Host, found: Request | Link) -> bool:
        first = self._first.get(host.name)
        if first is None or not isinstance(found, Request) or not self._may_spill(found):
            return False
        if rank_of(found) < first:
            return False
        self._write(host, found)
        return True

    def entered(self, host: Host, found: Request | Link) -> None:  # noqa: ARG002
        if self._receiver.in_memory > self._window and not self._is_closed:
            self._make_room(host)

    def refill(self, host: Host) -> None:
        if host.stored and host.queue.size <= self._least // 2 and host.name not in self._reading:
            self._read(host)
            if host.stored and host.queue.size <= self._least // 2:
                # All that was read has ended at once: it is refused, and so may be what follows.
                self._reading.add(host.name)
                gevent.spawn(self._read_on, host)

    def close(self) -> None:
        """Read nothing more."""
        self._is_closed = True
        self._first.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def _least(self) -> int:
        """How many requests of a host may be in memory, however many there are in all."""
        return max(1, min(_LEAST_READ, self._window // max(1, self._receiver.hosts)))

    def _may_spill(self, request: Request) -> bool:
        """Return whether *request* may wait in the file: it is not begun, and no callback waits for it."""
        return not (request.redirects or request.attempts or request.id in self._awaited)

    def _make_room(self, host: Host) -> None:
        """Let the second half of what waits for *host* be in the file only."""
        queue = host.queue
        least = max(self._least, queue.size // 2)
        while queue.size > least and (last := queue.last()) is not None:
            if not self._may_spill(last):
                break
            if self._receiver.forget_last(host, last):
                self._write(host, last)

    def _write(self, host: Host, request: Request) -> None:
        rank = rank_of(request)
        self._first[host.name] = min(rank, self._first.get(host.name, rank))
        row = json.dumps(admitted(rank[2], request))
        self._opened().execute(
            "INSERT INTO waiting VALUES (?, ?, ?, ?, ?)", (host.name, *rank, row)
        )
        host.stored += 1
        self.size += 1

    def _read(self, host: Host) -> None:
        if self._file is None:
            return
        room = self._window - self._receiver.in_memory
        most = max(self._least, min(_MOST_READ, room))
        query = f"SELECT priority, depth, id, row {_FIRST}"
        found = self._file.execute(query, (host.name, most + 1)).fetchall()
        self._first.pop(host.name)
        if len(found) > most:
            self._first[host.name] = found.pop()[:3]
        self._file.executemany(_FORGET, [(host.name, *row[:3]) for row in found])
        host.stored -= len(found)
        self.size -= len(found)
        for *_, row in found:
            self._receiver.bring_back(request_of(json.loads(row)), host)

    def _read_on(self, host: Host) -> None:
        while host.stored and host.queue.size <= self._least // 2 and self._file is not None:
            give_way()
            self._read(host)
        self._reading.discard(host.name)

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            # Without a name: on the disk if it is large, and gone when it is closed.
            self._file = sqlite3.connect("", isolation_level=None)
            self._file.execute("PRAGMA journal_mode = OFF")
            self._file.execute("PRAGMA synchronous = OFF")
            self._file.execute(_TABLE)
        return self._file
