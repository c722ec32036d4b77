"""MemoryGuard: how much memory a crawl may use."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from time import monotonic

import gevent

log = logging.getLogger(__name__)

MIB = 2**20
#: Seconds between two measurements of the size of the process.
_INTERVAL = 1.0
#: Seconds for which the number of bytes that are being received is taken as known.
_RECENT = 0.1
#: Memory is sufficient again when the size is below this fraction of the soft limit.
_ENOUGH = 0.9
_STATM = Path("/proc/self/statm")


@dataclass(frozen=True)
class Memory:
    """
    The limits, in bytes; None means no limit.

    *soft* and *hard* limit the resident size of the whole process. Above *soft*, no request is
    taken while any is in flight; at *hard*, the crawl is stopped. *in_flight* limits what all
    pages take that are not settled: what has been received of their bodies, and what the
    analysis of one needs while it runs. Above it, no request is taken either.
    """

    soft: int | None = None
    hard: int | None = None
    in_flight: int | None = 512 * MIB

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be more than 0 bytes, or None, not {value!r}")

    @property
    def of_process(self) -> bool:
        """Whether the size of the process is limited."""
        return self.soft is not None or self.hard is not None


class MemoryGuard:
    """
    Knows whether memory is *short*: too many bytes are in flight, or the process is too large.

    watch() measures the process once a second. *on_relief* is called when the size has fallen
    below the soft limit again, *on_full* with the reason at the hard limit.
    """

    def __init__(
        self, limits: Memory, on_relief: Callable[[], object], receiving: Callable[[], int] = int
    ) -> None:
        self.limits = limits
        self.on_full: Callable[[str], object] = str
        #: The bytes of all bodies that have arrived and are not settled, and of their analyses.
        self.held = 0
        #: Returns the bytes received of those that have not arrived; asked now and then only.
        self._receiving = receiving
        self._received = 0
        self._asked_at = 0.0
        self._budget = float("inf") if limits.in_flight is None else limits.in_flight
        self._on_relief = on_relief
        self._large = False
        self._warned = False

    @property
    def short(self) -> bool:
        now = monotonic()
        if now - self._asked_at >= _RECENT:
            self._asked_at, self._received = now, self._receiving()
        return self._large or self.held + self._received >= self._budget

    @property
    def in_flight(self) -> int:
        """The bytes that all pages take that are not settled, as far as they are known."""
        return self.held + self._received

    def counted(self, size: int) -> int:
        """Return what of the *size* of an analysis counts: one page alone must not stop all others."""
        return int(min(size, self._budget / 2))

    def watch(self) -> None:
        """Measure the process once a second, until it reaches the hard limit."""
        if resident_size() is None:
            log.warning(
                "memory_soft and memory_hard have no effect: the size of a process is unknown here"
            )
            return
        while not self._check(resident_size() or 0):
            gevent.sleep(_INTERVAL)

    def close(self) -> None:
        self.on_full = str

    def _check(self, size: int) -> bool:
        """Compare *size* with the limits; return whether the hard one is reached."""
        soft, hard = self.limits.soft, self.limits.hard
        if hard is not None and size >= hard:
            log.error("stopping at %d MiB: memory_hard is %d MiB", size // MIB, hard // MIB)
            self.on_full("memory_limit")
            return True
        if soft is not None:
            was, self._large = self._large, size >= soft * (_ENOUGH if self._large else 1)
            if self._large and not self._warned:
                self._warned = True
                log.warning(
                    "no request is taken at %d MiB until memory is freed: memory_soft is %d MiB",
                    size // MIB,
                    soft // MIB,
                )
            if was and not self._large:
                self._on_relief()
        return False


def resident_size() -> int | None:
    """Return the resident size of this process in bytes; None if the system does not report it."""
    try:
        pages = int(_STATM.read_bytes().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
