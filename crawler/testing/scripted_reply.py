"""A reply of a misbehaving server, as a script of steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TypeAlias


class End(Enum):
    """How a script ends the connection; without an End it stays open for the next request."""

    CLOSE = "close"
    RESET = "reset"
    HANG = "send nothing more until the client disconnects"


Step: TypeAlias = "bytes | float | End | Iterable[Step]"


class Wire:
    """
    A reply as raw steps: bytes are sent, a number is a wait in seconds, an End ends the reply.

    A step may also be an iterable of steps: ``Wire(head, itertools.repeat(b"x"))`` sends without
    end.
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
