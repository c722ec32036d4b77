"""A program of a build: without secrets, in a session of its own, and with limits."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

#: Bytes of memory and of one file that a program may use at most.
_MEMORY, _FILE = 4 << 30, 500 << 20
_PROCESSES = 4096


class Failed(Exception):
    """A program of a build has failed; the message has the reason."""


def run_limited(
    command: Sequence[str],
    *,
    cwd: Path,
    home: Path,
    seconds: float,
    log: Path,
    more: Mapping[str, str] | None = None,
) -> None:
    """
    Run *command* and append what it prints to *log*; raise Failed if it fails or takes too long.

    It sees nothing of the environment of the portal but PATH, and what *more* has.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}
    wrapper = [sys.executable, "-I", __file__]
    with log.open("ab") as out:
        process = subprocess.Popen(  # noqa: S603 - a list, no shell
            [*wrapper, *command],
            cwd=cwd,
            env=environment | dict(more or {}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"it took longer than {seconds:.0f} s") from None
        finally:
            # Whatever the program has left behind ends with it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code:
        raise Failed(f"{Path(command[0]).name} ended with {code}")


def main() -> None:
    """Set the limits of this process, and become the program of its arguments."""
    for kind, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_NPROC, _PROCESSES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - a list, no shell


if __name__ == "__main__":
    main()
