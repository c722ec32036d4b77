"""
Seen: which requests were found before.

    request ──fingerprint──▶ 16 bytes ──Seen.add──▶ was it new?

ExactSeen makes no errors, BloomSeen takes a tenth of the memory, MmapSeen is the same in
mapped files. A Bloom filter never calls an old key new, so no page is fetched twice; but it
calls new keys old, at its error rate.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from math import ceil, log, log1p, log2
from pathlib import Path
from tempfile import mkstemp
from typing import Any, Protocol

import rbloom

from ..._distribution import install_command

#: The share of the error rate that the first filter of a chain may use; each further filter may
#: use half of the share before. They sum up to 0.9: filters round the number of their hashes
#: down, which costs up to a tenth.
_FIRST_SHARE = 0.45
_GROWTH = 2
#: A part of a hash that rbloom does not make.
_ROUNDED_OFF = 0.3
#: How many keys the first filter of a chain holds.
CAPACITY = 700_000
#: What may be set: whether pages are fetched once, and how that is remembered.
DUPLICATE_FILTERS = ("bloom", "exact", "mmap", "off")


class Seen(Protocol):
    """A set of fingerprints, which looks up and adds a key in one step."""

    def add(self, key: bytes) -> bool:
        """Remember *key*; return whether it was new."""
        ...

    def __contains__(self, key: bytes) -> bool:
        """Return whether *key* is not new; do not remember it."""
        ...

    def update(self, keys: Sequence[bytes]) -> None:
        """Remember many *keys*, and count each of them as new."""
        ...

    def __len__(self) -> int:
        """Return how many keys were new."""
        ...


class ExactSeen:
    """Remembers every key: no errors, about 100 bytes for each key."""

    def __init__(self) -> None:
        self._keys: set[bytes] = set()

    def add(self, key: bytes) -> bool:
        """Remember *key*; return whether it was new."""
        before = len(self._keys)
        self._keys.add(key)
        return len(self._keys) > before

    def update(self, keys: Sequence[bytes]) -> None:
        """Remember many *keys*."""
        self._keys.update(keys)

    def __contains__(self, key: bytes) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<ExactSeen {len(self):,} keys>"


class _Filters:
    """
    A chain of Bloom filters that grows when it is full, the newest first.

    Each filter is larger than the one before and has a lower error rate, so that the sum of
    all error rates has a limit.
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
        """Remember *key*, of 16 bytes; return whether it was new."""
        if key in self:
            return False
        if self._count >= self._capacity:
            self._grow()
        self._filters[0].add(key)
        self._count += 1
        return True

    def __contains__(self, key: bytes) -> bool:
        for bloom in self._filters:  # noqa: SIM110 - a generator costs more than the filters
            if key in bloom:
                return True
        return False

    def update(self, keys: Sequence[bytes]) -> None:
        """Remember many *keys*, and count each of them as new."""
        while self._count + len(keys) > self._capacity:
            self._grow()
        self._filters[0].update(keys)
        self._count += len(keys)

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
    Remembers any number of keys in Bloom filters, with 7 to 14 bytes for each key.

    At most the share *error_rate* of the new keys is called old, however many there are.
    The first filter holds *capacity* keys; with the defaults, 10 million keys take 74 MB. Keys are
    hashed by Python, to 64 bits, with a seed of the process: a filter is of use in this process only.
    """

    def __init__(self, capacity: int = CAPACITY, error_rate: float = 1e-9) -> None:
        super().__init__(capacity, error_rate, _in_memory)

    def _bits(self, bloom: rbloom.Bloom) -> int:
        return bloom.size_in_bits


class _MappedFilters(_Filters):
    def close(self) -> None:
        """Write what is not on disk yet, and close the files."""
        for bloom in self._filters:
            bloom.close()

    def _bits(self, bloom: Any) -> int:
        bits: int = bloom.num_bits
        return bits


class MmapSeen(_MappedFilters):
    """
    Remembers keys in Bloom filters that are mapped files: *path*.0, *path*.1 and so on.

    Files that exist are opened and used further, with the *capacity* and *error_rate* they
    were made for; the number of keys in the last of them is then an estimate. Keys survive a
    crash of the process, but not of the machine. Another crawl finds them only if it has the
    same Fingerprint, whose key is random unless it is given. Needs the extra ``mmap``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        capacity: int = CAPACITY,
        error_rate: float = 1e-9,
    ) -> None:
        mapped = _Mapped(os.fspath(path))
        super().__init__(*(mapped.made_for() or (capacity, error_rate)), mapped.open)
        while mapped.has(len(self._filters)):
            self._grow()
        newest = self._filters[0]
        free = max(0, newest.capacity - newest.approx_len)
        self._count = self._capacity - free


class TemporaryMmapSeen(_MappedFilters):
    """
    Remembers keys in Bloom filters that are mapped files in *directory*, for one process.

    The files have no names, so that nothing is left of them, whatever ends the process. Their
    memory is the system's to take back. Needs the extra ``mmap``.
    """

    def __init__(
        self, capacity: int = CAPACITY, error_rate: float = 1e-9, directory: Path | None = None
    ) -> None:
        self._bloom = _bloom_filter()
        self._directory = directory
        super().__init__(capacity, error_rate, self._nameless)

    def _nameless(self, _place: int, capacity: int, error_rate: float) -> Any:
        file, name = mkstemp(prefix=".seen-", dir=self._directory)
        os.close(file)
        try:
            return self._bloom(capacity, error_rate, name, perm=0o600)
        finally:
            Path(name).unlink()


def make_seen(kind: str, capacity: int = CAPACITY, directory: Path | None = None) -> Seen:
    """
    Return an empty Seen for one of DUPLICATE_FILTERS, with its files in *directory*.

    The one for "off" is there for the first requests, which are admitted once.
    """
    if kind == "exact":
        return ExactSeen()
    return (
        TemporaryMmapSeen(capacity, directory=directory) if kind == "mmap" else BloomSeen(capacity)
    )


def check_duplicate_filter(kind: str) -> None:
    """Raise ValueError if *kind* is not one of DUPLICATE_FILTERS, or if it needs what is not installed."""
    if kind not in DUPLICATE_FILTERS:
        raise ValueError(f"must be one of {', '.join(DUPLICATE_FILTERS)}, not {kind!r}")
    if kind == "mmap":
        try:
            _bloom_filter()
        except ImportError as missing:
            raise ValueError(str(missing)) from None


def _in_memory(_place: int, capacity: int, error_rate: float) -> rbloom.Bloom:
    """Make a filter with half as many hashes as fit in the least memory: it takes a fifth more."""
    hashes = ceil(-log2(error_rate) / 2)
    bits_per_key = -hashes / log1p(-(error_rate ** (1 / hashes)))
    # rbloom takes so many hashes as it would need for this rate, if the filter were full.
    full = hashes + _ROUNDED_OFF
    return rbloom.Bloom(ceil(capacity * bits_per_key * log(2) / full), 0.5**full)


def _bloom_filter() -> Any:
    try:
        return import_module("pybloomfilter").BloomFilter
    except ImportError as missing:
        raise ImportError(
            f"a filter in mapped files needs pybloomfiltermmap3: {install_command('mmap')}"
        ) from missing


class _Mapped:
    """Opens or makes the files of a chain."""

    def __init__(self, path: str) -> None:
        self._bloom = _bloom_filter()
        self._path = path

    def has(self, place: int) -> bool:
        return Path(self._name(place)).exists()

    def made_for(self) -> tuple[int, float] | None:
        """Return the capacity and error rate of the chain in the files; None if there are none."""
        if not self.has(0):
            return None
        first = self._bloom.open(self._name(0))
        return first.capacity, first.error_rate / _FIRST_SHARE

    def open(self, place: int, capacity: int, error_rate: float) -> Any:
        name = self._name(place)
        if self.has(place):
            return self._bloom.open(name)
        # The file gets its final name when it is complete, so a crash leaves no partial file.
        bloom = self._bloom(capacity, error_rate, f"{name}.new", perm=0o644)
        Path(f"{name}.new").rename(name)
        return bloom

    def _name(self, place: int) -> str:
        return f"{self._path}.{place}"
