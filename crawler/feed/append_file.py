"""AppendFile: a file that grows by whole pieces; and files that replace another at once."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class AppendFile:
    """
    A file that grows by whole pieces: a piece that cannot be written whole is removed.

    There is no buffer: the operating system has a piece when write() returns, after 1–2 µs.
    """

    _fd = -1

    def __init__(self, path: Path, *, append: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if append else os.O_TRUNC)
        self._fd = os.open(path, flags, 0o666)
        self.size = os.fstat(self._fd).st_size
        self._torn = False

    def write(self, piece: bytes) -> None:
        if self._torn:
            self.cut(self.size)
        rest = memoryview(piece)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except BaseException:
            self._torn = len(rest) < len(piece)
            if self._torn:
                with suppress(OSError):
                    self.cut(self.size)
            raise
        self.size += len(piece)

    def cut(self, size: int) -> None:
        os.ftruncate(self._fd, size)
        self.size = size
        self._torn = False

    def sync(self) -> None:
        """Wait until what was written would survive a power failure."""
        os.fsync(self._fd)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap | bytes]:
    """Yield the bytes of a file, which are read only when they are used; a device has none."""
    if not stat.S_ISREG(path.stat().st_mode):
        yield b""
        return
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content


def draft_of(path: Path) -> Path:
    """Return the path where a new version of *path* is written; a leftover can be removed."""
    path = Path(os.path.realpath(path))
    return path.with_name(f".{path.name}.draft")


def put_in_place(draft: Path, path: Path) -> None:
    """Replace the file at *path* by *draft* in one step."""
    target = Path(os.path.realpath(path))
    if target.exists():
        draft.chmod(target.stat().st_mode & 0o7777)
    draft.replace(target)
