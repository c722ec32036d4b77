"""A run as a process of this machine, which goes on without the portal."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ...cluster.redis import VARIABLE as REDIS
from ..access import VARIABLE
from ..projects.spider_sources import Place
from ..store.runs import Run
from ..store.tasks import Task
from .supervisor import EXIT, LOCK, LOG, PID, STOP

_PORT = re.compile(rb"live page: http://127\.0\.0\.1:([0-9]+)/")
#: Variables of the portal, such as the key of its secrets; that of its Redis may have a password.
_OWN = ("CRAWLER_PORTAL_", REDIS)
#: How much of the start of a log is searched for the port.
_HEAD = 65536


class RunProcess:
    """The process of *run*; its files are in *root*/ID, those of its job in *root*/JOB/job."""

    def __init__(self, run: Run, root: Path) -> None:
        self.run = run
        self.path = root / str(run.id)
        self.job = root / str(run.job) / "job"
        self.output_folder = root / str(run.job)

    def start(self, place: Place) -> subprocess.Popen[bytes]:
        """Start the process in a session of its own."""
        self.path.mkdir(parents=True, exist_ok=True)
        supervisor = [sys.executable, "-m", "crawler.portal.runs.supervisor", str(self.path)]
        # It must not hold the portal's own output open: a program that reads it waits for its end.
        with (self.path / LOG).open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - a list, no shell
                [*supervisor, *self.command(place.python)],
                cwd=place.directory,
                env=_without_secrets(os.environ) | {VARIABLE: self.run.token},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def command(self, python: Path) -> list[str]:
        """Return the command line; what a user has typed is never the start of an option."""
        task = Task.from_json(self.run.spec)
        words = [*_words(task), f"--job={self.job}", *self._outputs(task)]
        return [str(python), "-m", "crawler", *words, "--live=0", "--log-json", "-LINFO"]

    @property
    def is_alive(self) -> bool:
        try:
            with (self.path / LOCK).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    @property
    def exit_code(self) -> int | None:
        with suppress(OSError, ValueError):
            return int((self.path / EXIT).read_text())
        return None

    @property
    def ended_at(self) -> float:
        """When the exit code was written: the portal may have been away then."""
        return (self.path / EXIT).stat().st_mtime

    @property
    def live_url(self) -> str:
        """The URL of the live page of the run; empty if it has none yet."""
        with suppress(OSError), (self.path / LOG).open("rb") as log:
            if found := _PORT.search(log.read(_HEAD)):
                return f"http://127.0.0.1:{int(found[1])}/{self.run.token}/"
        return ""

    @property
    def is_stopping(self) -> bool:
        return (self.path / STOP).exists()

    def stop(self) -> None:
        """Ask the crawl to finish what is in flight and end; it can be continued."""
        with suppress(OSError):  # a run in the queue has no directory
            (self.path / STOP).touch()
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End a crawl that does not end by itself; what it has committed is whole."""
        self._send(signal.SIGKILL)

    def _outputs(self, task: Task) -> Iterator[str]:
        """Yield the file of the records, and what is done with the job before it goes on."""
        file = self.output_folder / task.output
        if self.run.start == "fresh":
            yield from ("--fresh", "--yes", f"--overwrite={file}")
            return
        yield f"--output={file}"
        if self.run.start == "retry":
            yield f"--retry-failed={self.run.reason}"

    def _send(self, number: signal.Signals) -> None:
        if self.is_alive:
            with suppress(OSError, ValueError):
                os.kill(int((self.path / PID).read_text()), number)


def _without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return *environ* without what is for the portal alone."""
    return {name: value for name, value in environ.items() if not name.startswith(_OWN)}


def _words(task: Task) -> Iterator[str]:
    yield from ("run", task.spider) if task.spider else ("crawl", *task.urls)
    for name, value in task.arguments.items():
        if task.spider:
            yield from ("-a", f"{name}={value}")
    for name, value in task.settings.items():
        yield from ("-s", f"{name}={value}")
    for gate in task.gates:
        yield from ("--fail-if", gate)
