"""Session: what one run of the program remembers, whichever command it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _nothing() -> None:
    pass


@dataclass
class Session:
    """*prepare* is called before a command is imported; *verbose* lets tracebacks be shown."""

    prepare: Callable[[], None] = _nothing
    verbose: bool = False
