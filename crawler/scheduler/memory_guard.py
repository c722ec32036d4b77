"""How much memory a crawl may take."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import gevent

log = logging.getLogger(__name__)

MIB = 2**20
#: Seconds between two looks at the size of the process.
_INTERVAL = 1.0
#: Below which part of the soft limit there is enough again.
_ENOUGH = 0.9
_STATM = Path("/proc/self/statm")


@dataclass(frozen=True)
class Memory:
    """
    The limits, in bytes; None is none.

    *soft* and *hard* are for the resident size of the whole process. Above *soft* nothing new
    is taken while anything is in flight; at *hard* the crawl is stopped. *in_flight* is for
    the bodies of all pages that are not settled: while they are more, nothing new is taken.
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
        """Whether there is a limit for the process."""
        return self.soft is not None or self.hard is not None


class MemoryGuard:
    """
    Says whether memory is *short*: too many bytes in flight, or too large a process.

    The size is looked at once a second, while watch() runs. *on_relief*
    is called when it has come down, *on_full* with the reason at the hard limit.
    """

    def __init__(self, limits: Memory, on_relief: Callable[[], object]) -> None:
        self.limits = limits
        self.on_full: Callable[[str], object] = str
        #: The bytes of all bodies that have arrived and are not settled.
        self.held = 0
        self._budget = float("inf") if limits.in_flight is None else limits.in_flight
        self._on_relief = on_relief
        self._large = False
        self._warned = False

    @property
    def short(self) -> bool:
        return self._large or self.held >= self._budget

    def watch(self) -> None:
        """Look again and again, to the hard limit."""
        if resident_size() is None:
            log.warning("memory_soft and memory_hard do nothing: this system does not tell sizes")
            return
        while not self._look(resident_size() or 0):
            gevent.sleep(_INTERVAL)

    def close(self) -> None:
        self.on_full = str

    def _look(self, size: int) -> bool:
        """Say if *size* is the end."""
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
                    "taking nothing new at %d MiB until there are less: memory_soft is %d MiB",
                    size // MIB,
                    soft // MIB,
                )
            if was and not self._large:
                self._on_relief()
        return False


def resident_size() -> int | None:
    """Return the bytes of this process that are in memory; None if the system does not tell."""
    try:
        pages = int(_STATM.read_bytes().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
