"""The seven states of a scheduler, and the transitions between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from gevent.event import Event

from ..errors import StateError


class Status(Enum):
    UNINITIALIZED = "uninitialized"
    INITIALIZING = "initializing"
    INITIALIZED = "initialized"
    STARTING = "starting"
    STARTED = "started"
    STOPPING = "stopping"
    STOPPED = "stopped"

    def __str__(self) -> str:
        return self.value


#: The allowed transitions. A step that fails returns to the state before it.
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.UNINITIALIZED: frozenset({Status.INITIALIZING}),
    Status.INITIALIZING: frozenset({Status.INITIALIZED}),
    Status.INITIALIZED: frozenset({Status.INITIALIZING, Status.STARTING}),
    Status.STARTING: frozenset({Status.STARTED}),
    Status.STARTED: frozenset({Status.STOPPING}),
    Status.STOPPING: frozenset({Status.STOPPED}),
    Status.STOPPED: frozenset({Status.INITIALIZING, Status.STARTING}),
}


class Life:
    """The status of a scheduler; others can wait for it to change."""

    def __init__(self, status: Status = Status.UNINITIALIZED) -> None:
        self.status = status
        self._waiters: list[tuple[tuple[Status, ...], Event]] = []

    def check(self, wanted: Status) -> None:
        if wanted not in TRANSITIONS[self.status]:
            raise StateError(f"a scheduler that is {self.status} cannot become {wanted}")

    def need(self, call: str, *statuses: Status) -> None:
        if self.status not in statuses:
            wanted = " or ".join(map(str, statuses))
            raise StateError(
                f"{call} needs a scheduler that is {wanted}; this one is {self.status}"
            )

    @contextmanager
    def step(self, through: Status, to: Status, on_error: Status | None = None) -> Iterator[None]:
        """Be *through* during the block, then *to*; if it raises, *on_error* or the status before."""
        before = self.status
        self.check(through)
        self._move(through)
        try:
            yield
        except BaseException:
            self._move(on_error or before)
            raise
        self._move(to)

    def wait(self, *statuses: Status) -> None:
        """Wait until the status is one of *statuses*, or has been one since the call."""
        if self.status in statuses:
            return
        waiter = (statuses, Event())
        self._waiters.append(waiter)
        try:
            waiter[1].wait()
        finally:
            self._waiters.remove(waiter)

    def _move(self, status: Status) -> None:
        self.status = status
        for statuses, event in self._waiters:
            if status in statuses:
                event.set()
