"""KeyLog: the keys of a store's rows in one file, from which a filter is filled quickly."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

from ..admission.fingerprint import SIZE

#: Of a record: the number of its commit, the number of its keys, and a hash of both and the keys.
_HEADER = struct.Struct("<QII")
_NUMBERS = struct.Struct("<QI")
_KEY = struct.Struct(f"{SIZE}s")
#: How many keys are read at a time, and how many a record has at most.
_CHUNK = 10_000


class KeyLog:
    """
    The keys of all rows that count as seen, in the order of their commits.

    A record is written before its commit. So after a crash there is at most one too many, which
    covers() cuts off: a key without a row would be a page that is never fetched. What else may
    happen to the file makes the number of keys differ from that of the rows, or a hash; then
    covers() returns False, and the owner writes the file anew from the rows.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._is_whole = True

    def covers(self, commits: int, rows: int) -> bool:
        """Return whether the keys of *rows* rows are here, all that *commits* commits have written."""
        end = keys = 0
        for number, its_keys in self._records():
            if number > commits:
                break
            end += _HEADER.size + len(its_keys)
            keys += len(its_keys) // SIZE
        if end < os.fstat(self._descriptor).st_size:
            os.ftruncate(self._descriptor, end)
            # What is cut off must not come back: other commits get the same numbers.
            os.fsync(self._descriptor)
        return keys == rows

    def chunks(self) -> Iterator[list[bytes]]:
        """Yield all keys, many at a time."""
        some: list[bytes] = []
        for _, keys in self._records():
            some += [key for (key,) in _KEY.iter_unpack(keys)]
            if len(some) >= _CHUNK:
                yield some
                some = []
        yield some

    def clear(self) -> None:
        os.ftruncate(self._descriptor, 0)

    def append(self, commit: int, keys: Sequence[bytes]) -> None:
        """Add the *keys* of a *commit* that is about to be made; without room, add nothing any more."""
        for place in range(0, len(keys), _CHUNK):
            content = b"".join(keys[place : place + _CHUNK])
            record = _packed(commit, content)
            try:
                if self._is_whole and os.write(self._descriptor, record) < len(record):
                    self._is_whole = False
            except OSError:
                self._is_whole = False

    def close(self) -> None:
        os.close(self._descriptor)

    def _records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the keys of each record, up to the first damaged one."""
        with open(self._descriptor, "rb", buffering=1 << 20, closefd=False) as file:
            file.seek(0)
            while len(header := file.read(_HEADER.size)) == _HEADER.size:
                commit, number, _ = _HEADER.unpack(header)
                keys = file.read(min(number, _CHUNK) * SIZE)
                if header + keys != _packed(commit, keys):
                    return
                yield commit, keys


def _packed(commit: int, keys: bytes) -> bytes:
    numbers = _NUMBERS.pack(commit, len(keys) // SIZE)
    return _HEADER.pack(commit, len(keys) // SIZE, crc32(keys, crc32(numbers))) + keys
