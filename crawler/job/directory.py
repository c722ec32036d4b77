"""Job: a directory in which a crawl can be left at any moment, and gone on with."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from ..data import Item, Request, Response
from ..errors import JobError
from ..feed import Feed, Output, Stdout, WarcWriter, as_record, open_feed
from ..frontier import Store
from ..frontier.durable.recovery import Recovered

log = logging.getLogger(__name__)

STATE = "state.db"
PULSE = "state.pulse"
ABOUT = "job.json"
LOCK = "lock"


class Job:
    """
    The state of a crawl, and where its outputs end, in the directory *path*.

    Only one process may have it open. Records and exchanges are held until the page they
    come from is settled, and written then, all together: so whatever ends the process, an
    output can be cut back to the records of exactly those pages that are settled.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.path / LOCK)
        with ExitStack() as on_error:
            on_error.callback(os.close, self._lock)
            self.store = Store(self.path / STATE)
            on_error.callback(self.store.close)
            self._ends: dict[str, int] = self.store.fact("outputs") or {}
            self._written: dict[str, int] = self.store.fact("written") or {}
            on_error.pop_all()
        #: What to do about a callback that never ends; None lets it be.
        self.on_stuck: Callable[[Request], object] | None = None
        self.feeds: list[Feed] = []
        self.archive: WarcWriter | None = None
        #: Whether an earlier process has worked here.
        self.has_begun = self.store.fact("outputs") is not None
        self.changes: list[str] = []
        self._outputs: dict[str, Output] = {}
        self._records: dict[str, list[dict[str, Any]]] = {}
        self._exchanges: dict[str, list[Response]] = {}
        self.store.facts["outputs"] = self._positions
        self.store.facts["written"] = self._counts
        self.store.on_settle = self._write
        self.store.on_put_back = self._drop

    @property
    def recovered(self) -> Recovered | None:
        """What was found of an earlier process; None before the crawl has begun."""
        return self.store.recovered

    def open_feed(self, spec: str, *, append: bool = True) -> Feed:
        """Open a feed as open_feed() does; one that this job has written goes on where it was."""
        name = self._name(spec)
        feed = open_feed(spec, append=append, position=self._ends.get(name))
        if not isinstance(feed, Stdout):  # what is out cannot be cut back
            feed.written = self._written.get(name, 0)
            self._outputs[name] = feed
            self.feeds.append(feed)
        return feed

    def check_outputs(self, specs: Iterable[str]) -> None:
        """Raise JobError if *specs* are not the outputs that the records have gone to until now."""
        wanted = {self._name(spec) for spec in specs}
        if not self.has_begun or wanted == set(self._ends):
            return
        now = ", ".join(sorted(wanted - set(self._ends))) or "no other file"
        before = ", ".join(sorted(self._ends)) or "no file"
        raise JobError(
            f"{self.path} has written to {before} until now, and {now} would lack that: "
            f"name the same files again, or start over with --fresh"
        )

    def open_archive(self, path: str) -> WarcWriter:
        name = self._name(path)
        self.archive = WarcWriter(path, append=name in self._ends, position=self._ends.get(name))
        self._outputs[name] = self.archive
        return self.archive

    def begin(self, about: Mapping[str, Any]) -> None:
        """
        Note what the job is *about*, and where its outputs begin.

        *changes* says in words what it was about before, where that is something else; the job
        of another spider is a JobError.
        """
        before = read_about(self.path) if self.has_begun else {}
        if before.get("spider", about["spider"]) != about["spider"]:
            raise JobError(
                f"{self.path} is a job of the spider {before['spider']!r}, not of "
                f"{about['spider']!r}: name another directory, or start over with --fresh"
            )
        self.changes = list(_changes(before, json.loads(json.dumps(about, default=str))))
        draft = self.path / f".{ABOUT}.draft"
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(about, indent=2, default=str) + "\n")
        draft.replace(self.path / ABOUT)
        self.store.flush(anyway=True)

    def keep(self, item: Item) -> None:
        """Hold the record of *item* until its page is settled."""
        self._records.setdefault(item.request.id, []).append(as_record(item.value))

    def around(self, fetch: Callable[[Request], Response]) -> Callable[[Request], Response]:
        """Return *fetch*, holding what it answers for the archive until the page is settled."""
        if self.archive is None:
            return fetch

        def fetch_and_hold(request: Request) -> Response:
            response = fetch(request)
            self._exchanges.setdefault(request.id, []).append(response)
            return response

        return fetch_and_hold

    def note(self, name: str, value: Any) -> None:
        """Write down *value*, which JSON must know, by *name*; the last one counts."""
        self.store.notes[name] = value
        self.store.flush(anyway=True)

    @staticmethod
    def clear(path: str | os.PathLike[str]) -> None:
        """Forget all that a job in *path* has done; its outputs stay."""
        place = Path(path)
        lock = _locked(place / LOCK)
        try:
            for name in (STATE, f"{STATE}-wal", f"{STATE}-shm", PULSE, ABOUT):
                (place / name).unlink(missing_ok=True)
        finally:
            os.close(lock)

    def close(self) -> None:
        """Write what is left, close the outputs, and let another process have the directory."""
        try:
            self.store.close()
        finally:
            failures = [error for error in map(_closed, self._outputs.values()) if error]
            os.close(self._lock)
        if failures and self.store.failure is None:
            raise failures[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Job {self.path}, {len(self._outputs)} outputs>"

    def _write(self, number: str) -> None:
        for record in self._records.pop(number, ()):
            for feed in self.feeds:
                _write(feed, record)
        for response in self._exchanges.pop(number, ()):
            if self.archive is not None:
                self.archive(response)

    def _drop(self, number: str) -> None:
        self._records.pop(number, None)
        self._exchanges.pop(number, None)

    def _name(self, path: str) -> str:
        """Return what an output is known by; one in the directory may be moved with it."""
        place, home = Path(path).resolve(), self.path.resolve()
        return str(place.relative_to(home) if place.is_relative_to(home) else place)

    def _positions(self) -> dict[str, int]:
        ends = {name: output.position() for name, output in self._outputs.items()}
        return self._ends | ends

    def _counts(self) -> dict[str, int]:
        return self._written | {name: output.written for name, output in self._outputs.items()}


def _write(feed: Feed, record: dict[str, Any]) -> None:
    """Write one record; one that cannot be written is no reason to lose the others."""
    try:
        feed(record)
    except (ValueError, TypeError) as error:
        log.warning("a record cannot be written to %s: %s: %.200r", feed.path, error, record)


def _closed(output: Output) -> JobError | None:
    """Close *output*; return what kept it from being finished."""
    try:
        output.close()
    except Exception as error:  # the others are to be closed as well
        failure = JobError(
            f"cannot finish {output.path}: {error}; put that right and go on with the same command"
        )
        failure.__cause__ = error
        return failure
    return None


def read_about(path: Path) -> dict[str, Any]:
    """Return what the job in *path* is about; nothing if that cannot be read."""
    try:
        about = json.loads((path / ABOUT).read_text())
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say what a job was about, and is not any more."""
    if not before:
        return
    if before.get("start_urls") != now["start_urls"]:
        yield f"the first URLs were {', '.join(before.get('start_urls', []))}"
    if before.get("source") != now["source"]:
        yield "the spider was another one: what it has done stays as it is"
    old, new = before.get("settings", {}), now["settings"]
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"{name} was {old.get(name, 'not set')}, and is {new.get(name, 'not set')} now"


def _locked(path: Path) -> int:
    """Return the descriptor of the lock, which the system takes back when the process ends."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 200).decode(errors="replace").strip()
        os.close(lock)
        raise JobError(
            f"{path.parent} is in use by {holder or 'another process'}: "
            f"wait for it, or name another directory"
        ) from None
    os.truncate(lock, 0)
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()} since {since}\n".encode(), 0)
    return lock
