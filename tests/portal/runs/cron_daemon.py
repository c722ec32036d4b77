"""Debian's cron daemon with a clock of ours: which minutes it starts a job in."""

import getpass
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
DAEMON = "/usr/sbin/cron"
#: What the daemon gave for the changes of the clocks in 2026: zone, line, and for each change the
#: minutes from the beginning of its window.
TABLE = HERE / "cron_table.txt"


def is_there():
    """Return whether this machine has the daemon, and a compiler for its clock."""
    return bool(shutil.which("cc")) and os.access(DAEMON, os.X_OK)


class CronDaemon:
    """Needs a directory of its own; nothing outside of it is read, changed or started."""

    def __init__(self, path):
        self._path, self._clock = path, path / "clock.so"
        (path / "crontabs").mkdir(exist_ok=True)
        source = str(HERE / "cron_clock.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self._clock, source, "-ldl"], check=True)

    def starts(self, line, zone, windows):
        """Return the seconds since 1970 at which the job of a *line* starts in the *windows*."""
        table = self._path / "crontabs" / getpass.getuser()
        table.write_text(f"{line} true\n")
        table.chmod(0o600)
        environment = {
            "TZ": zone,
            "LD_PRELOAD": str(self._clock),
            "CRON_DIR": str(self._path),
            "CRON_WINDOWS": ",".join(f"{first}-{last}" for first, last in windows),
        }
        command = [DAEMON, "-f"]
        done = subprocess.run(
            command, cwd=self._path, env=environment, capture_output=True, check=True, timeout=300
        )
        # It wakes up a second after the minute. Several times of a line that a change of the clocks
        # has skipped start its job as often in the same minute: for us that is one time.
        return sorted({int(text) // 60 * 60 for text in done.stdout.split()})


def stored():
    """Return the starts of the table by zone and line: a list for each change of the clocks."""
    rows = [text.split("\t") for text in TABLE.read_text().splitlines()]
    return {
        (zone, line): [[int(minute) for minute in text.split()] for text in texts]
        for zone, line, *texts in rows
    }
