"""Hooks: the methods that a chain calls, with their figures and their failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import gevent

from ...data import Request, Response
from ...errors import DropItem
from ...spider.callback_results import results
from ..download.contract import MiddlewareError

#: The exceptions that cost only the output of the hook; any other one ends the greenlet.
FAILURES = (Exception, gevent.Timeout)
#: How many failures of one page are kept; the others are only counted.
_MOST_FAILURES = 10
_END = object()


@dataclass
class HookFigures:
    """The calls of a hook, the elements that it dropped or failed on, and the seconds it took."""

    calls: int = 0
    drops: int = 0
    failures: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Failures:
    """The failures on one page: the first few, and how many there were."""

    number: int = 0
    first: list[BaseException] = field(default_factory=list)

    def add(self, failure: BaseException) -> None:
        self.number += 1
        if len(self.first) < _MOST_FAILURES:
            self.first.append(failure)

    def raise_any(self) -> None:
        if self.number == 1:
            raise self.first[0]
        if self.number:
            raise BaseExceptionGroup(f"{self.number} hooks and elements failed", self.first)


@dataclass(slots=True)
class Hook:
    """
    One method of a middleware or of the spider, with its figures.

    call() raises the exceptions of the method. results() and passed() add them to the failures
    of the page instead: those of a middleware with its name, those of the spider as they are.
    """

    name: str
    function: Callable[..., Any]
    figures: HookFigures
    of_spider: bool

    def call(self, **known: Any) -> Any:
        self.figures.calls += 1
        try:
            return self._timed(self.function, **known)
        except FAILURES:
            self.figures.failures += 1
            raise

    def results(self, known: Mapping[str, Any], failures: Failures) -> Iterator[Any]:
        """Yield the elements that the method returns, as it makes them."""
        self.figures.calls += 1
        try:
            with closing(results(self._timed(self.function, **known))) as outputs:
                while (found := self._timed(next, outputs, _END)) is not _END:
                    if found is not None:
                        yield found if self.of_spider else _addable(found)
        except FAILURES as failure:
            self._failed(failure, failures)

    def passed(self, kind: str, known: Mapping[str, Any], failures: Failures) -> Any:
        """Return what the method returns for one element; None if it dropped it or failed."""
        self.figures.calls += 1
        try:
            found = _checked(kind, self._timed(self.function, **known))
        except DropItem:
            found = None
        except FAILURES as failure:
            self._failed(failure, failures)
            return None
        if found is None:
            self.figures.drops += 1
        return found

    def _timed(self, function: Callable[..., Any], *arguments: Any, **known: Any) -> Any:
        began = perf_counter()
        try:
            return function(*arguments, **known)
        finally:
            self.figures.seconds += perf_counter() - began

    def _failed(self, failure: BaseException, failures: Failures) -> None:
        self.figures.failures += 1
        failures.add(failure if self.of_spider else self._named(failure))

    def _named(self, failure: BaseException) -> MiddlewareError:
        error = MiddlewareError(f"{self.name}: {type(failure).__name__}: {failure}")
        error.__cause__ = failure
        return error


def _addable(found: Any) -> Any:
    """Return *found* if it is not a response, which a hook gets but does not pass on."""
    if isinstance(found, Response):
        raise TypeError(
            f"returned {found!r:.80}, not requests, URLs or items to add: to add none, return None"
        )
    return found


def _checked(kind: str, passed: Any) -> Any:
    """Return *passed* if it is one element of the same *kind*, or None; else raise TypeError."""
    if kind == "request":
        fits = isinstance(passed, Request)
    else:
        fits = not isinstance(passed, Request | str | Iterator)
    if fits or passed is None:
        return passed
    raise TypeError(f"returned {passed!r:.200}, not the {kind} to pass on, or None")
