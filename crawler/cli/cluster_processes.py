"""Schedulers: the scheduler processes of a job on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Self

import gevent

from ..errors import ClusterError
from ..frontier.durable.crash_marker import STUCK
from .interrupts import Interrupts

#: Seconds between two looks at the processes; and that they have to end after they are asked to.
_LOOK = 0.1
_END = 30.0
#: How often a process that was killed is started again.
_MOST_STARTS = 20


def command_of(
    name: str,
    what: Sequence[str],
    arguments: Sequence[str],
    assigned: Sequence[str],
    folder: str | None = None,
) -> list[str]:
    """Return the command of one scheduler; the address of Redis is in its environment."""
    options = [word for pair in arguments for word in ("-a", pair)]
    options += [word for pair in assigned for word in ("-s", pair)]
    options += ["--dir", folder] if folder else []
    return [sys.executable, "-m", "crawler", "cluster", "join", name, *what, *options]


class Schedulers:
    """
    *number* processes that run *command*; one that is killed, or was stuck, is started again.

    The address of Redis, which may have a password, is given to them in the environment.
    """

    def __init__(self, command: Sequence[str], number: int, redis_url: str) -> None:
        from ..cluster.redis import VARIABLE

        self._command = list(command)
        self._environment = {**os.environ, VARIABLE: redis_url}
        self._starts = 0
        self._number = number
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.processes = [self._start() for _ in range(self._number)]
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.end()

    def look(self) -> int | None:
        """Start processes again that were killed; return the exit code once all have ended."""
        codes = [process.poll() for process in self.processes]
        for place, code in enumerate(codes):
            if code is not None and (code < 0 or code == STUCK):
                self._starts += 1
                if self._starts > _MOST_STARTS:
                    raise ClusterError(
                        f"schedulers have died {self._starts} times, the last time by "
                        f"{_cause(code)}: see their messages above"
                    )
                self.processes[place] = self._start()
                codes[place] = None
        known = [code for code in codes if code is not None]
        return max(known) if len(known) == len(codes) else None

    def wait(self) -> int:
        """Wait until all have ended, or Ctrl-C has ended them; return the highest exit code."""
        with Interrupts() as interrupts:
            while (code := self.look()) is None:
                if interrupts.first.is_set():
                    interrupts.acknowledge()
                    return self.end()
                gevent.sleep(_LOOK)
            return code

    def end(self) -> int:
        """Let all finish their requests in flight; return the highest exit code."""
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        return max(abs(int(process.returncode)) for process in self.processes)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own program
            self._command, env=self._environment, stdin=subprocess.DEVNULL, start_new_session=True
        )


def _cause(code: int) -> str:
    return "a callback that never ends" if code == STUCK else signal.Signals(-code).name
