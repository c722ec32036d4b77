"""WaitingRequests: the requests that wait, in memory and beyond."""

from __future__ import annotations

from collections.abc import Iterator

from ..data import Link, Request
from .durable.journal import Journal
from .hosts.host import Host
from .hosts.host_queues import HostQueues


class WaitingRequests:
    """Lets requests wait in the queues of their hosts, or in the overflow behind those."""

    def __init__(self, queues: HostQueues, journal: Journal) -> None:
        self._queues = queues
        self._journal = journal
        self._overflow = journal.overflow

    def __len__(self) -> int:
        return len(self._queues) + self._overflow.size

    def put(self, host: Host, found: Request | Link, *, first: bool = False) -> None:
        """Let *found* wait for *host*; before all others of its rank if it is to be *first*."""
        if first or not self._overflow.keeps(host, found):
            self._queues.put(host, found, first=first)
            self._overflow.entered(host, found)

    def put_again(self, request: Request) -> None:
        """Let a redirected request wait for the host that it was sent to."""
        self._journal.waits_again(request)
        self.put(self._queues.host_of(request.url), request, first=True)

    def put_later(self, host: Host, request: Request, due: float, now: float) -> None:
        """Let *request* wait for its next attempt, until *due*."""
        self._journal.waits_again(request)
        self._queues.put_later(host, request, due, now)

    def move_up(self, again: Request | Link) -> bool:
        """
        Let what waits count as found where *again* was found, if that is nearer to the start.

        Return whether it is.
        """
        nearer = self._queues.nearer(again)
        if nearer is None:
            return False
        host = self._queues.host_of(nearer.url)
        if isinstance(nearer, Request):
            self._journal.found_nearer(nearer, host.name)
        self._queues.put(host, nearer)
        return True

    def drain(self, host: Host, *, spare_begun: bool) -> Iterator[Request]:
        """
        Take out all that waits for *host* in memory, or only what is not begun.

        The rest is read next, and Restorer ends it.
        """
        yield from self._queues.drain(host, spare_begun=spare_begun)
        self._overflow.refill(host)
