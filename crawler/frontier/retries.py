"""Which failures are worth another try, and when."""

from __future__ import annotations

from dataclasses import dataclass

from ..data import Response
from ..errors import ModuleError, Retry

#: Failures to reach a host at all: they tell about the host, not about one page.
HOST_KINDS = frozenset({"dns", "connect", "tls", "timeout", "network"})
#: Answers by which a host asks to be left alone for a while.
THROTTLING = frozenset({429, 503})


@dataclass(frozen=True)
class Retries:
    """
    How often a request may be tried, and after what.

    The first retry waits *wait* seconds, each further one twice as long; a Retry-After
    counts instead where it is longer.
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
        """Say if *result*, which ended attempt number *attempts*, calls for one more."""
        if attempts >= self.attempts:
            return False
        if isinstance(result, Response):
            return result.status in self.statuses and "cached" not in result.flags
        return result.kind in self.kinds or isinstance(result.__cause__, Retry)
