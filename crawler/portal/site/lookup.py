"""What a request asks for by its number, or the answer 404."""

from __future__ import annotations

from typing import Protocol, TypeVar

from werkzeug.exceptions import NotFound

Thing = TypeVar("Thing")
Thing_co = TypeVar("Thing_co", covariant=True)


class Things(Protocol[Thing_co]):
    """A table of the store: runs, tasks, projects or versions; *kind* is what one is called."""

    kind: str

    def find(self, number: int, /) -> Thing_co | None: ...


def lookup(things: Things[Thing], number: int) -> Thing:
    """Return the one with a *number*; raise NotFound, which names what was asked for."""
    thing = things.find(number)
    if thing is None:
        raise NotFound(f"There is no {things.kind} {number}.")
    return thing
