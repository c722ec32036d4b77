"""
Functions measured in processes of their own.

    python -m crawler.bench.measuring.child '{"target": "crawler.bench.contenders.bare_loop:crawl", …}'

``crawler bench child`` does the same in a process that is patched and keeps its heap, as the
command line's is. What a function returns, and what it cost, is the last line of the output.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from ...errors import CrawlerError

#: The cores that contenders and servers are pinned to, of those there are.
CLIENT, SERVER = 0, -1
#: Of prctl(), on Linux: which signal to get when the parent ends.
_PARENT_DEATH_SIGNAL = 1


@dataclass(frozen=True)
class Child:
    """
    A function to run in a process of its own: *target* is "module:name".

    It is *patched* for gevent, with the heap of the command line, unless it is somebody else's,
    and does not outlive its *parent*.
    """

    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    patched: bool = True
    core: int = CLIENT
    parent: int = field(default_factory=os.getpid)

    @property
    def command(self) -> list[str]:
        entry = ["crawler", "bench", "child"] if self.patched else ["crawler.bench.measuring.child"]
        return [sys.executable, "-m", *entry, json.dumps(asdict(self))]

    def run(self, timeout: float) -> dict[str, Any]:
        """Wait for the end; return what the function gave back and what it cost."""
        with (
            tempfile.TemporaryFile() as complaints,
            tempfile.TemporaryDirectory(prefix="crawler-bench-") as folder,
        ):
            try:
                ended = subprocess.run(
                    self.command,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    timeout=timeout,
                    check=True,
                    # Ours to remove, where one that is killed leaves what it has made.
                    env=os.environ | {"TMPDIR": folder},
                    start_new_session=True,  # Ctrl-C is for the parent
                )
            except subprocess.CalledProcessError as error:
                told = _last_line(complaints) or f"exit code {error.returncode}"
                raise BenchError(f"{self.target} failed: {told}") from None
            except subprocess.TimeoutExpired:
                raise BenchError(f"{self.target} did not end within {timeout:g} s") from None
        measured: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        return measured


class BenchError(CrawlerError):
    """A measurement that would not mean anything."""


def work(text: str) -> None:
    """Be the child that *text* describes: pin, import, measure, print."""
    child = Child(**json.loads(text))
    end_with(child.parent)
    pin(child.core)
    module, _, name = child.target.partition(":")
    function = getattr(import_module(module), name)
    began, clock = cpu(), time.perf_counter()
    returned = function(**child.arguments) or {}
    cost = {"cpu": cpu() - began, "seconds": time.perf_counter() - clock, "rss": most_memory()}
    try:
        print(json.dumps(cost | returned), flush=True)
    except BrokenPipeError:  # whoever wanted to know has ended, and we are about to
        os._exit(1)


def _last_line(file: IO[bytes]) -> str:
    """Return the end of what was written: of a traceback, the exception."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
    return file.read().decode(errors="replace").strip().rpartition("\n")[2]


def end_with(parent: int) -> None:
    """Be killed, on Linux, as soon as the process *parent* ends, in whatever way."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(f"process {parent} ended before its child began")


def pin(core: int) -> None:
    """Stay on one core, if there are two."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[core]})


def cpu() -> float:
    """Seconds of CPU that this process has used, its threads and the kernel included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def most_memory() -> float:
    """
    Return the most memory this process has had, in MB.

    The kernel's own record (VmHWM) begins with the program, getrusage's with the process: before it
    became this program, that was a copy of its parent.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    peak = next((line for line in lines if line.startswith("VmHWM:")), None)
    if peak is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(peak.split()[1]) / 1024


if __name__ == "__main__":
    work(sys.argv[1])
