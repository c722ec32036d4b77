"""Overflow: where requests wait that do not fit in memory."""

from __future__ import annotations

from typing import Protocol

from ...data import Link, Request
from .host import Host


class Receiver(Protocol):
    """Takes what was read back from an overflow."""

    def bring_back(self, request: Request, host: Host | None = None) -> None:
        """Let *request*, of *host* if that is known, wait again."""

    def set_aside(self, url: str) -> None:
        """Count a request as failed that was damaged."""

    def host_named(self, name: str) -> Host: ...

    def host_of(self, url: str) -> Host: ...

    @property
    def in_memory(self) -> int:
        """How many requests wait in memory."""

    @property
    def hosts(self) -> int:
        """How many hosts are known."""

    def forget_last(self, host: Host, last: Request) -> bool:
        """Take the *last* request of *host* out of memory; return whether it counted."""


class Overflow(Protocol):
    """
    Holds the end of the queues that are too long for memory.

    What a host has in memory comes before what it has here, in the order of priority, depth
    and age. `Host.stored` is how many requests of a host are here only.
    """

    #: How many requests are here only.
    size: int

    def open(self, receiver: Receiver) -> None:
        """Give what an earlier process has left to *receiver*, now or when there is room."""

    def keeps(self, host: Host, found: Request | Link) -> bool:
        """Return whether *found* waits here only, because others of *host* come first."""

    def entered(self, host: Host, found: Request | Link) -> None:
        """Note that *found* waits in memory, and make room if there is too much."""

    def refill(self, host: Host) -> None:
        """Read more requests of *host* if few are left in memory."""


class NoOverflow:
    """Everything waits in memory."""

    size = 0

    def open(self, receiver: Receiver) -> None:
        """Do nothing: there is nothing to give back."""

    def keeps(self, _host: Host, _found: Request | Link) -> bool:
        return False

    def entered(self, host: Host, found: Request | Link) -> None:
        """Do nothing."""

    def refill(self, host: Host) -> None:
        """Do nothing."""
