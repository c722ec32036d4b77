"""Lease: which of the portals in a directory does some work."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path


class Lease:
    """A lock on the file *path*, which the system gives back if the process is killed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        return self._file is not None

    def take(self) -> bool:
        """Take the lease unless another portal holds it; return whether it was taken now."""
        if self.is_held:
            return False
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file = file
            return True
        os.close(file)
        return False

    def give_back(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
