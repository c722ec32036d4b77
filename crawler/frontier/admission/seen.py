"""
Which requests have been met before.

    request ──fingerprint──▶ 16 bytes ──Seen.add──▶ was it new?

ExactSeen makes no mistakes, BloomSeen takes a tenth of the memory, MmapSeen is the same in
mapped files. A Bloom filter never takes an old key for a new one, so no page is fetched
twice; but at its error rate it takes a new one for old.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import rbloom

#: How much of the error rate the first filter of a chain may use; each further one may use
#: half of the one before. They sum up to 0.9: filters round the number of their hashes
#: down, which costs up to a tenth.
_FIRST_SHARE = 0.45
_GROWTH = 2

_number = partial(int.from_bytes, byteorder="big", signed=True)


class Seen(Protocol):
    """A set of fingerprints that can be asked and told in one step."""

    def add(self, key: bytes) -> bool:
        """Remember *key* and say if it was new."""
        ...

    def __contains__(self, key: bytes) -> bool:
        """Say if *key* would not be new, and remember nothing."""
        ...

    def __len__(self) -> int:
        """How many keys were new."""
        ...


class ExactSeen:
    """Remembers every key: no mistakes, about 100 bytes each."""

    def __init__(self) -> None:
        self._keys: set[bytes] = set()

    def add(self, key: bytes) -> bool:
        """Remember *key* and say if it was new, in one step."""
        before = len(self._keys)
        self._keys.add(key)
        return len(self._keys) > before

    def __contains__(self, key: bytes) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<ExactSeen {len(self):,} keys>"


class _Filters:
    """
    Bloom filters that together never fill up, the newest first.

    Each is larger than the one before, and less often mistaken, so that the sum of all
    error rates has a limit.
    """

    def __init__(
        self, capacity: int, error_rate: float, make: Callable[[int, int, float], Any]
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be 1 or more, not {capacity!r}")
        if not 0 < error_rate < 1:
            raise ValueError(f"error_rate must be between 0 and 1, not {error_rate!r}")
        self._filters: list[Any] = []
        self._count = 0
        self._capacity = 0
        self._make = make
        self._next = capacity, error_rate * _FIRST_SHARE
        self._grow()

    def add(self, key: bytes) -> bool:
        """Remember *key*, of 16 bytes, and say if it was new, in one step."""
        if key in self:
            return False
        if self._count >= self._capacity:
            self._grow()
        self._filters[0].add(key)
        self._count += 1
        return True

    def __contains__(self, key: bytes) -> bool:
        for bloom in self._filters:  # noqa: SIM110 - a generator would cost more than the filters
            if key in bloom:
                return True
        return False

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        name, number = type(self).__name__, len(self._filters)
        return f"<{name} {len(self):,} keys in {number} filters, {self.size / 1e6:.1f} MB>"

    @property
    def size(self) -> int:
        """Bytes of memory, or of mapped files."""
        return sum(map(self._bits, self._filters)) // 8

    def _bits(self, bloom: Any) -> int:
        raise NotImplementedError

    def _grow(self) -> None:
        capacity, rate = self._next
        self._filters.insert(0, self._make(len(self._filters), capacity, rate))
        self._capacity += capacity
        self._next = capacity * _GROWTH, rate / 2


class BloomSeen(_Filters):
    """
    Remembers keys in Bloom filters: 6 to 12 bytes each, with no ceiling.

    At most *error_rate* of the new keys are taken for old ones, however many there are.
    The first filter holds *capacity* keys; 10 million keys fit the default in 63 MB.
    """

    def __init__(self, capacity: int = 700_000, error_rate: float = 1e-9) -> None:
        super().__init__(capacity, error_rate, _in_memory)

    def update(self, keys: Sequence[bytes]) -> None:
        """Remember many *keys*, each of which counts as new."""
        while self._count + len(keys) > self._capacity:
            self._grow()
        self._filters[0].update(keys)
        self._count += len(keys)

    def _bits(self, bloom: rbloom.Bloom) -> int:
        return bloom.size_in_bits


class MmapSeen(_Filters):
    """
    Remembers keys in Bloom filters that are mapped files: *path*.0, *path*.1 and so on.

    Files that exist are gone on with, by the *capacity* and *error_rate* they were made
    for; the number of keys in the last of them is then an estimate. What was added is
    there after a crash of the process, not of the machine. Needs the extra ``mmap``.
    """

    def __init__(
        self, path: str | os.PathLike[str], capacity: int = 700_000, error_rate: float = 1e-9
    ) -> None:
        mapped = _Mapped(os.fspath(path))
        super().__init__(*(mapped.made_for() or (capacity, error_rate)), mapped.open)
        while mapped.has(len(self._filters)):
            self._grow()
        newest = self._filters[0]
        free = max(0, newest.capacity - newest.approx_len)
        self._count = self._capacity - free

    def close(self) -> None:
        """Write what is not on disk yet, and let the files go."""
        for bloom in self._filters:
            bloom.close()

    def _bits(self, bloom: Any) -> int:
        bits: int = bloom.num_bits
        return bits


def _in_memory(_place: int, capacity: int, error_rate: float) -> rbloom.Bloom:
    return rbloom.Bloom(capacity, error_rate, _number)


class _Mapped:
    """Opens the files of a chain, or makes them."""

    def __init__(self, path: str) -> None:
        try:
            self._bloom = import_module("pybloomfilter").BloomFilter
        except ImportError as missing:
            raise ImportError(
                "MmapSeen needs pybloomfiltermmap3: install crawler[mmap]"
            ) from missing
        self._path = path

    def has(self, place: int) -> bool:
        return Path(self._name(place)).exists()

    def made_for(self) -> tuple[int, float] | None:
        """Return the capacity and error rate of the chain that is there, if one is."""
        if not self.has(0):
            return None
        first = self._bloom.open(self._name(0))
        return first.capacity, first.error_rate / _FIRST_SHARE

    def open(self, place: int, capacity: int, error_rate: float) -> Any:
        name = self._name(place)
        if self.has(place):
            return self._bloom.open(name)
        # A file that has its name is whole, even after a crash.
        bloom = self._bloom(capacity, error_rate, f"{name}.new", perm=0o644)
        Path(f"{name}.new").rename(name)
        return bloom

    def _name(self, place: int) -> str:
        return f"{self._path}.{place}"
