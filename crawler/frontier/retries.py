"""Retries: which failures are worth another attempt, and when."""

from __future__ import annotations

from dataclasses import dataclass

from ..data import Response
from ..errors import ModuleError, Retry

#: Failures to reach a host: they concern the host, not a single page.
HOST_KINDS = frozenset({"dns", "connect", "tls", "timeout", "network"})
#: Statuses with which a host asks for a pause.
THROTTLING = frozenset({429, 503})


@dataclass(frozen=True)
class Retries:
    """
    How many attempts a request has, and which failures lead to another attempt.

    The first retry waits *wait* seconds, each further one twice as long as the one before; a
    longer Retry-After replaces this.
    """

    attempts: int = 3
    wait: float = 1.0
    kinds: frozenset[str] = HOST_KINDS | {
        "proxy",
        "truncated",
        "protocol",
        "bad_encoding",
        "descriptors",
    }
    statuses: frozenset[int] = frozenset({408, 429, 500, 502, 503, 504, 522, 524})

    def __post_init__(self) -> None:
        if type(self.attempts) is not int or self.attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {self.attempts!r}")
        if not self.wait >= 0:
            raise ValueError(f"wait must be 0 or more seconds, not {self.wait!r}")

    def worth_another(self, result: Response | ModuleError, attempts: int) -> bool:
        """Return whether to try again after *result*, the end of attempt number *attempts*."""
        if attempts >= self.attempts:
            return False
        if isinstance(result, Response):
            return result.status in self.statuses and "cached" not in result.flags
        return result.kind in self.kinds or isinstance(result.__cause__, Retry)
