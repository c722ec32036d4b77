"""Session: the state of one run of the program, shared by all commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..credentials import is_secret_name

#: A shorter value would be found in half of all words.
_SHORTEST_SECRET = 4


def _nothing() -> None:
    pass


@dataclass
class Session:
    """
    *prepare* is called before a command is imported; *verbose* shows tracebacks.

    *logs_json* makes log lines JSON, in which no value of *secrets* appears.
    """

    prepare: Callable[[], None] = _nothing
    verbose: bool = False
    logs_json: bool = False
    secrets: set[str] = field(default_factory=set)

    def keep_secret(self, name: str, value: str) -> None:
        """Keep *value* out of log lines if its *name* says that it is secret."""
        if is_secret_name(name) and len(value) >= _SHORTEST_SECRET:
            self.secrets.add(value)
