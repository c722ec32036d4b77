"""What a misbehaving server does, as a script of steps on the wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TypeAlias


class End(Enum):
    """How a script leaves the connection; one that does not say keeps it for the next request."""

    CLOSE = "close"
    RESET = "reset"
    HANG = "say nothing more until the client leaves"


Step: TypeAlias = "bytes | float | End | Iterable[Step]"


class Wire:
    """
    A reply as raw steps: bytes are sent, numbers are seconds to wait, an End ends it.

    A step may also be an iterable of steps, so ``Wire(head, itertools.repeat(b"x"))``
    never stops sending.
    """

    def __init__(self, *steps: Step) -> None:
        self.steps = steps

    def __iter__(self) -> Iterator[bytes | float | End]:
        return _flat(self.steps)


def _flat(steps: Iterable[Step]) -> Iterator[bytes | float | End]:
    for step in steps:
        if isinstance(step, bytes | float | int | End):
            yield step
        else:
            yield from _flat(step)
