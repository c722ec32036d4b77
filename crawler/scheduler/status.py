"""The seven states of a scheduler, and the transitions between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import NoReturn

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


#: The call that begins with a state.
_CALLS = {Status.INITIALIZING: "init()", Status.STARTING: "start()", Status.STOPPING: "stop()"}
#: What to do in a state that does not allow a call.
_REMEDIES = {
    Status.UNINITIALIZED: "call init() first",
    Status.INITIALIZING: "wait for init() first",
    Status.INITIALIZED: "call start() first",
    Status.STARTING: "wait for start() first",
    Status.STARTED: "call stop() first",
    Status.STOPPING: "wait for stop() first",
    Status.STOPPED: "call start() first",
}


class Life:
    """The status of a scheduler; others can wait for it to change."""

    def __init__(self, status: Status = Status.UNINITIALIZED) -> None:
        self.status = status
        self._waiters: list[tuple[tuple[Status, ...], Event]] = []

    def check(self, wanted: Status) -> None:
        if wanted not in TRANSITIONS[self.status]:
            self.refuse(_CALLS.get(wanted, f"to become {wanted}"))

    def need(self, call: str, *statuses: Status) -> None:
        if self.status not in statuses:
            self.refuse(call)

    def refuse(self, call: str) -> NoReturn:
        remedy = _REMEDIES[self.status]
        raise StateError(f"{call} is not possible while the scheduler is {self.status}: {remedy}")

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
