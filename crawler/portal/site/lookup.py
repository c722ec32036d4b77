"""What a request asks for by its number, or the answer 404."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from werkzeug.exceptions import NotFound

from .visitor import hidden


class OfProject(Protocol):
    """Has the name or the number of its project; "" if it is of none."""

    @property
    def project(self) -> str | int: ...


Thing = TypeVar("Thing", bound=OfProject)
Thing_co = TypeVar("Thing_co", bound=OfProject, covariant=True)


class Things(Protocol[Thing_co]):
    """A table of the store: runs, tasks, projects, versions or alarms; *kind* is what one is called."""

    kind: str

    def find(self, number: int, /) -> Thing_co | None: ...


def lookup(things: Things[Thing], number: int) -> Thing:
    """
    Return the one with a *number*; raise NotFound, which names what was asked for.

    What is of a project that the user may not see is not found either.
    """
    thing = things.find(number)
    if thing is None or thing.project in hidden():
        raise NotFound(f"There is no {things.kind} {number}.")
    return thing


def shown(things: Iterable[Thing]) -> list[Thing]:
    """Return those that the user may see."""
    left_out = hidden()
    return [thing for thing in things if thing.project not in left_out] if left_out else [*things]
