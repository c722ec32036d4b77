"""Session: the state of one run of the program, shared by all commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _nothing() -> None:
    pass


@dataclass
class Session:
    """*prepare* is called before a command is imported; *verbose* shows tracebacks."""

    prepare: Callable[[], None] = _nothing
    verbose: bool = False
