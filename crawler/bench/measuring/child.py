"""
Functions that are measured in a child process.

    python -m crawler.bench.measuring.child '{"target": "crawler.bench.contenders.bare_loop:crawl", …}'

``crawler bench child`` does the same in a process that is monkey-patched and keeps its heap, like
the command line. The last line of the output has what the function returned, and its cost.
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

#: Indexes into the available cores: contenders are pinned to the first, servers to the last.
CLIENT, SERVER = 0, -1
#: The option of prctl(), on Linux, for the signal to get when the parent ends.
_PARENT_DEATH_SIGNAL = 1


@dataclass(frozen=True)
class Child:
    """
    A function to run in a process of its own: *target* is "module:name".

    The process is *patched* for gevent and keeps its heap like the command line, unless the function
    belongs to another framework. It ends when its *parent* ends.
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
        """Run the child to its end; return what the function returned, and its cost."""
        with (
            tempfile.TemporaryFile() as errors,
            tempfile.TemporaryDirectory(prefix="crawler-bench-") as folder,
        ):
            try:
                ended = subprocess.run(
                    self.command,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    timeout=timeout,
                    check=True,
                    # The parent removes this folder even if the child is killed.
                    env=os.environ | {"TMPDIR": folder},
                    start_new_session=True,  # Ctrl-C goes to the parent only
                )
            except subprocess.CalledProcessError as error:
                message = _last_line(errors) or f"exit code {error.returncode}"
                raise BenchError(f"{self.target} failed: {message}") from None
            except subprocess.TimeoutExpired:
                raise BenchError(f"{self.target} did not end within {timeout:g} s") from None
        measured: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        return measured


class BenchError(CrawlerError):
    """A measurement that failed, or whose result would be meaningless."""


def work(text: str) -> None:
    """Run the child that *text* describes: pin the process, import, measure, print."""
    child = Child(**json.loads(text))
    end_with(child.parent)
    pin(child.core)
    module, _, name = child.target.partition(":")
    function = getattr(import_module(module), name)
    began, clock = cpu(), time.perf_counter()
    returned = function(**child.arguments) or {}
    cost = {"cpu": cpu() - began, "seconds": time.perf_counter() - clock, "rss": peak_memory()}
    try:
        print(json.dumps(cost | returned), flush=True)
    except BrokenPipeError:  # the parent has ended
        os._exit(1)


def _last_line(file: IO[bytes]) -> str:
    """Return the last line of *file*: for a traceback, the exception."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
    return file.read().decode(errors="replace").strip().rpartition("\n")[2]


def end_with(parent: int) -> None:
    """Let the kernel kill this process when the process *parent* ends (on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(f"process {parent} ended before its child began")


def pin(core: int, process: int = 0) -> None:
    """Pin a process, by default this one, to one core, if there are several."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(process, {cores[core]})


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended, with kernel time."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_memory() -> float:
    """
    Return the peak memory of this process, in MB.

    The kernel's peak (VmHWM) starts with the program. That of getrusage() starts with the process,
    which was a copy of its parent before it executed this program.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    peak = next((line for line in lines if line.startswith("VmHWM:")), None)
    if peak is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(peak.split()[1]) / 1024


if __name__ == "__main__":
    work(sys.argv[1])
