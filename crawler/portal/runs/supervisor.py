"""The parent of a run: outlives the portal, and writes down how the run has ended."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
from pathlib import Path

#: Files in the directory of a run. The supervisor holds a lock on the first while it lives.
LOCK, LOG, PID, EXIT = "lock", "log.txt", "pid", "exit"
#: It is there if the run was asked to stop.
STOP = "stop"


def main() -> None:
    """Run a command: python -m crawler.portal.runs.supervisor DIRECTORY COMMAND…."""
    directory, command = Path(sys.argv[1]), sys.argv[2:]
    # A terminal's Ctrl-C is for the portal, not for its runs.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    with (directory / LOCK).open("w") as lock, (directory / LOG).open("ab") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603
        (directory / PID).write_text(f"{child.pid}\n")
        if (directory / STOP).exists():  # it was asked before there was a process to tell
            child.terminate()
        code = child.wait()
        draft = directory / f"{EXIT}.draft"
        draft.write_text(f"{code}\n")
        draft.replace(directory / EXIT)


if __name__ == "__main__":
    main()
