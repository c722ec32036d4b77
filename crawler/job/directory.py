"""Job: a directory in which a crawl can be interrupted at any moment, and continued."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from .._words import counted
from ..data import Request
from ..errors import CrawlerError, JobError
from ..feed import Feed, WarcWriter
from ..frontier import FailedPages, Recovered, SqliteJournal
from .contract import CrawlCookies, Fetch
from .outputs import JobOutputs

STATE = "state.db"
MARKER = "state.marker"
_KEYS = "state.keys"
#: What it was called in format 1.
_OLD_MARKER = "state.pulse"
ABOUT = "job.json"
LOCK = "lock"
#: Which files its items have.
FILES = "files.db"


class Job:
    """
    A crawl in the directory *path*: its state, its outputs, and what it is about.

    Only one process may have it open.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.path / LOCK)
        with ExitStack() as on_error:
            on_error.callback(os.close, self._lock)
            self.journal = SqliteJournal(self.path / STATE)
            on_error.callback(self.journal.close)
            ends = self.journal.store.fact("outputs")
            written = self.journal.store.fact("written")
            on_error.pop_all()
        #: Whether an earlier process has worked here.
        self.has_begun = self.journal.store.commits > 0
        self.outputs = JobOutputs(self.path, ends or {}, written or {})
        self.journal.commits.outputs = self.outputs
        #: The file, class and arguments of the spider, as text; "" if they are unknown.
        self.program = ""
        #: What to do about a callback that never ends; None leaves it alone.
        self.on_stuck: Callable[[Request], object] | None = None
        #: In words, what the job was about before and is not any more.
        self.changes: list[str] = []

    @property
    def recovered(self) -> Recovered | None:
        """What was found of an earlier process; None before the crawl has begun."""
        return self.journal.recovered

    @property
    def failure(self) -> JobError | None:
        """Why nothing is written any more, if so."""
        return self.journal.commits.failure

    def open_feed(self, spec: str, *, append: bool = True) -> Feed:
        """Open a feed as open_feed() does; one that this job has written continues where it was."""
        return self.outputs.open_feed(spec, append=append)

    def open_archive(self, path: str) -> WarcWriter:
        """Archive each exchange, request and response, to the WARC file *path*."""
        return self.outputs.open_archive(path)

    def check_outputs(self, specs: Iterable[str]) -> None:
        """Raise JobError if *specs* are not the outputs that the job has written so far."""
        if self.has_begun:
            self._check_owner(read_about(self.path), {"program": self.program})
            self.outputs.check(specs)

    def begin(self, about: Mapping[str, Any]) -> None:
        """
        Write down what the job is *about*, and where its outputs begin.

        Raises JobError if it was begun with another spider, or with other arguments of it.
        """
        about = {**about, "program": self.program}
        before = read_about(self.path)
        if before and not self.has_begun:
            raise JobError(
                f"{self.path} has {ABOUT}, but the state of that job is gone: put {STATE} and the "
                "files beside it back, name another directory with --job, or start over with --fresh"
            )
        self._check_owner(before, about)
        self.changes = list(_changes(before, json.loads(json.dumps(about, default=str))))
        self.journal.commits.flush(anyway=True)
        draft = self.path / f".{ABOUT}.draft"
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(about, indent=2, default=str) + "\n")
        draft.replace(self.path / ABOUT)

    def _check_owner(self, before: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Raise JobError if *about* names another spider, or other arguments of it, than *before*."""
        for what, name in (("the spider ", "spider"), ("", "program")):
            if before.get(name) and about.get(name) and before[name] != about[name]:
                raise JobError(
                    f"{self.path} is a job of {what}{before[name]!r}, not of {about[name]!r}: "
                    "name another directory with --job, or start over with --fresh"
                )

    def watch_failures(self, on_failure: Callable[[CrawlerError], object]) -> None:
        """Call *on_failure* when nothing can be written any more."""
        self.journal.commits.on_failure = on_failure

    def around_fetch(self, fetch: Fetch, _waiting: object) -> Fetch:
        return fetch

    def keep_cookies(self, cookies: CrawlCookies) -> None:
        cookies.restore(self.journal.fact("cookies") or {})
        self.journal.include("cookies", cookies.changes)

    def retry_failed(self, *reasons: str) -> None:
        """Fetch the pages again that failed, for one of *reasons* if any is given; call it first."""
        self.journal.retried = FailedPages(reasons)

    def note(self, name: str, value: Any) -> None:
        """Write down *value*, which JSON must know, by *name*; the last one counts."""
        self.journal.commits.note(name, value)

    @staticmethod
    def clear(path: str | os.PathLike[str]) -> None:
        """Forget all that a job in *path* has done; its outputs stay."""
        place = Path(path)
        lock = _locked(place / LOCK)
        try:
            databases = [name + end for name in (STATE, FILES) for end in ("", "-wal", "-shm")]
            for name in (*databases, MARKER, _OLD_MARKER, _KEYS, ABOUT):
                (place / name).unlink(missing_ok=True)
        finally:
            os.close(lock)

    def close(self) -> None:
        """Write what is left, close the outputs, and let another process have the directory."""
        try:
            self.journal.close()
        finally:
            failure = self.outputs.close()
            os.close(self._lock)
        if failure is not None and self.failure is None:
            raise failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Job {self.path}, {counted(len(self.outputs), 'output')}>"


def read_about(path: Path) -> dict[str, Any]:
    """Return what the job in *path* is about; empty if that cannot be read."""
    try:
        about = json.loads((path / ABOUT).read_text())
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


#: The settings that a job keeps, whatever a later command says.
_KEPT = frozenset({"fingerprint"})


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words what a job was about, and is not any more."""
    if not before:
        return
    if before.get("start_urls") != now["start_urls"]:
        yield f"the first URLs were {', '.join(before.get('start_urls', []))}"
    if before.get("source") != now["source"]:
        yield "the spider was another one: what it has done stays as it is"
    old, new = before.get("settings", {}), now["settings"]
    for name in sorted({*old, *new}):
        if old.get(name) == new.get(name):
            continue
        if name in _KEPT:
            yield f"{name} stays as it was when the job began: only --fresh changes it"
        else:
            yield f"{name} was {old.get(name, 'not set')}, and is {new.get(name, 'not set')} now"


def _locked(path: Path) -> int:
    """Return the descriptor of the lock, which the system releases when the process ends."""
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
