"""GroupCommit: many decisions in one transaction, a short time after the first of them."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

import gevent
from gevent.event import Event
from gevent.lock import Semaphore

from ...errors import JobError
from .batch import Batch
from .durations import Durations
from .store import Store

#: Seconds and steps of requests after which a group is committed, whichever comes first.
_SECONDS = 0.2
GROUP = 64
#: How many steps may wait for a commit before no more requests are taken.
MOST_UNWRITTEN = 256


class Outputs(Protocol):
    """Where the records and exchanges of requests go."""

    def collect(self, request_id: str) -> Any:
        """Return what a request has produced since this was last asked; None if it is nothing."""

    def discard(self, request_id: str) -> None:
        """Forget what a request has produced since its last step: it continues from there."""

    def write(self, products: list[Any]) -> dict[str, Any]:
        """Write what was collected; return, as facts, where each output ends now."""


class NoOutputs:
    """Pages produce nothing that is written here."""

    def collect(self, _request_id: str) -> None:
        return None

    def discard(self, request_id: str) -> None:
        """Do nothing."""

    def write(self, _products: list[Any]) -> dict[str, Any]:
        return {}


class GroupCommit:
    """
    Gathers what a journal writes in a *batch*, and commits it in groups.

    When a batch is written it is complete: its rows, what its requests have produced, and the
    figures of that moment. First the products go to the outputs, then the rows, with the
    positions where the outputs end, go to the store. Nothing else writes to either, so it
    does not matter which greenlets run meanwhile.

    When a commit fails, *on_failure* is called, and nothing is written any more: the file
    stays as it was.
    """

    def __init__(self, store: Store) -> None:
        self.batch = Batch()
        self.outputs: Outputs = NoOutputs()
        #: By name, what is asked for figures at each commit.
        self.figures: dict[str, Callable[[], Any]] = {}
        self.on_failure: Callable[[JobError], object] = str
        self.failure: JobError | None = None
        self._store = store
        self._times = Durations()
        self._notes: dict[str, Any] = {}
        self._turn = Semaphore()
        self._due = Event()
        self._full = Event()
        self._written = Event()
        self._unwritten = 0
        self._writing: gevent.Greenlet[..., None] | None = None
        self._closing = False

    def measured(self) -> dict[str, Any]:
        """Return how long commits took, and how many ended pages wait for the next one."""
        return {"target": "sqlite", "uncommitted": self._unwritten} | self._times.figures()

    def changed(self) -> None:
        """Have the batch written soon."""
        if self._writing is None:
            self._writing = gevent.spawn(self._write_batches)
        self._due.set()

    def stepped(self) -> None:
        """Have the batch written soon: it has one more step, and what that has produced."""
        self._unwritten += 1
        if self._unwritten >= GROUP:
            self._full.set()
        self.changed()

    def wait_for_room(self) -> None:
        """Wait while there are more steps than a crash may undo."""
        while self._unwritten >= MOST_UNWRITTEN and self.failure is None:
            self._written.clear()
            self._full.set()
            self._written.wait()

    def write(self, *, anyway: bool = False) -> None:
        """Commit the batch, and wait for that; an empty one only *anyway*, for the figures."""
        with self._turn:
            self._unwritten = 0
            self._due.clear()
            self._full.clear()
            try:
                if (self.batch or anyway) and self.failure is None:
                    self._write_batch()
            finally:
                self._written.set()

    def flush(self, *, anyway: bool = False) -> None:
        """Do what write() does; raise JobError if that, or an earlier commit, has failed."""
        self.write(anyway=anyway)
        if self.failure is not None:
            raise self.failure

    def note(self, name: str, value: Any) -> None:
        """Commit *value* by *name*."""
        self._notes[name] = value
        self.flush(anyway=True)

    def fail(self, error: Exception) -> None:
        """Write nothing any more, because of *error*."""
        if self.failure is None:
            self.failure = JobError(
                f"cannot write to {self._store.path.parent}: {error}; what is there is whole: "
                f"correct that and run the same command to continue"
            )
            self.failure.__cause__ = error
            self._written.set()
            self.on_failure(self.failure)

    def close(self) -> None:
        """Write what is left, and let go of the file."""
        self._closing = True
        self._due.set()
        self._full.set()
        try:
            # It is not killed: a batch whose records are written must be committed.
            if self._writing is not None:
                self._writing.join()
            self.write()
        finally:
            self._store.close()
            if isinstance(self._store.refused, Exception):  # the greenlet that waited was killed
                self.fail(self._store.refused)

    def _write_batches(self) -> None:
        while self.failure is None and not self._closing:
            self._due.wait()
            self._full.wait(_SECONDS)
            self.write()

    def _write_batch(self) -> None:
        batch, self.batch = self.batch, Batch()
        notes, self._notes = self._notes, {}
        try:
            asked = {name: figures() for name, figures in self.figures.items()}
            facts = {name: value for name, value in asked.items() if value is not None} | notes
            facts |= self.outputs.write(batch.outputs)
            began = monotonic()
            self._store.commit(batch, facts)
            self._times.add(monotonic() - began)
        except Exception as error:  # whatever it is, nothing may be committed after it
            self.fail(error)
