"""Transport: what carries the messages between a remote module and the worker it calls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from ...errors import TimeLimit
from .frames import Frame

T = TypeVar("T")

#: Calls in flight to one worker: the one it works on, and enough to keep it busy until more arrive.
IN_FLIGHT = 3


class Disconnected(Exception):
    """The worker has ended; *at_work* says whether it was working on the caller's message."""

    def __init__(self, reason: str, *, at_work: bool) -> None:
        super().__init__(reason)
        self.at_work = at_work


class Transport(Protocol):
    """
    A connection to one worker, which works on calls in the order in which they were sent.

    call() and receive() raise Disconnected when the worker has ended. A time limit of the
    caller counts only while the worker works on its call, not while the call waits for others.
    """

    #: The process id of the worker, on the machine where it runs.
    pid: int
    #: Whether the worker has ended, or is being ended: it takes no more calls.
    dead: bool

    def call(self, message: dict[str, Any], body: bytes) -> AbstractContextManager[None]:
        """
        Send a frame and enter the context when the worker gets to it.

        Inside, receive() returns the worker's frames for this call, and send() answers them.
        Leave the context when the worker has finished. A call that is left by an exception
        ends the worker, because nothing else can interrupt it.
        """

    def send(self, frame: bytes) -> None:
        """Send a packed frame; if the worker has ended, the next receive() raises Disconnected."""

    def receive(self) -> Frame:
        """Return the next frame of the worker."""

    def restart_clock(self) -> None:
        """Count the time limit of the call from now: the time before was not the worker's."""

    def close(self, timeout: float) -> dict[str, Any]:
        """End the worker within *timeout* seconds and return its last message, {} if none."""


def defer_time_limit(wait: Callable[..., T], *arguments: Any) -> T:
    """Wait even if a time limit expires: it does not count while the worker serves other calls."""
    while True:
        try:
            return wait(*arguments)
        except TimeLimit:
            continue
