"""The moments at which a crawl is killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from gevent import subprocess

from .slow_site import recorded
from .trial import Moment, Trial


def anywhere(trial: Trial, _: object) -> Iterator[None]:
    return after(trial.rng.uniform(0, trial.spans[1]))


def start_up(trial: Trial, _: object) -> Iterator[None]:
    return after(trial.rng.uniform(0, trial.spans[0]))


def recovery(trial: Trial, child: subprocess.Popen[bytes]) -> Iterator[None]:
    yield from locked(trial, child)
    yield from after(trial.rng.uniform(0, 0.05))


def locked(trial: Trial, child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Wait until the process has locked the job directory."""
    holder = f"process {child.pid} "
    while not _text_of(trial.folder / "lock").startswith(holder):
        yield


def checkpoint(trial: Trial, _: object) -> Iterator[None]:
    """Wait for a checkpoint of SQLite, the only time that it writes the main file."""
    while not trial.hits:
        yield
    for _time in range(trial.rng.randint(1, 4)):
        known = _modified(trial.folder / "state.db")
        while _modified(trial.folder / "state.db") == known:
            yield
    yield from after(trial.rng.uniform(0, 0.002))


def shutdown(trial: Trial, _: object) -> Iterator[None]:
    """Wait until every page has been requested, and a little longer."""
    pages = recorded(trial.site.pages)
    while not pages <= trial.hits.keys():
        yield
    yield from after(trial.rng.uniform(0, 0.2))


def after(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def _text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _modified(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


#: The moments of the kills of one trial, one after the other.
KINDS: dict[str, tuple[Moment, ...]] = {
    "anywhere": (anywhere,),
    "in start-up": (start_up,),
    "in recovery": (anywhere, recovery),
    "in a checkpoint": (checkpoint,),
    "in shutdown": (shutdown,),
    "five in a row": (anywhere,) * 5,
}
