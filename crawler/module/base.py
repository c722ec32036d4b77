"""Module: the base class of downloaders, analyzers and pipelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, ClassVar

from gevent import GreenletExit, Timeout

from .._words import counted
from ..data import Request
from ..errors import FetchError, ModuleError, Refusal, Retry, TimeLimit
from .mid import LETTERS, MID, SerialNumbers
from .score import Counts, load_score

_serials = {letter: SerialNumbers() for letter in LETTERS}


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """The counts of a module at one moment; *extra* has the figures of its kind only."""

    id: str
    called: int
    accepted: int
    completed: int
    handling: int
    score: float
    extra: Mapping[str, Any] = field(default_factory=dict)


class Module:
    """Something that the scheduler passes data to and the registrar chooses by its score."""

    letter: ClassVar[str]
    error: ClassVar[type[ModuleError]] = ModuleError
    #: Exceptions that end the greenlet of a call and are not failures of the module.
    passing: ClassVar[tuple[type[BaseException], ...]] = (GreenletExit, KeyboardInterrupt)

    def __init__(
        self, mid: MID | str | None = None, score: Callable[[Counts], float] = load_score
    ) -> None:
        if not callable(score):
            raise ValueError(f"score must be a function of Counts, not {score!r}")
        self.mid = self._checked_mid(mid)
        self.counts = Counts()
        self._score = score

    @property
    def score(self) -> float:
        return self._score(self.counts)

    def clear(self) -> None:
        """Restart all counts at 0; calls in flight end in the old counts, so none drops below 0."""
        self.counts = Counts()

    def summary(self) -> ModuleSummary:
        counts = self.counts
        return ModuleSummary(
            str(self.mid),
            counts.called,
            counts.accepted,
            counts.completed,
            counts.handling,
            self.score,
            self._extra(),
        )

    def _extra(self) -> dict[str, Any]:
        return {}

    def _handling(self, datum: object, kind: type, request: Request | None) -> _Call:
        """Return a context that counts one call and raises its failure as this module's error."""
        return _Call(self._begin(datum, kind, request), request, self._fail)

    def _begin(self, datum: object, kind: type, request: Request | None) -> Counts:
        """Count the start of a call; return the counts in which its end must be counted."""
        counts = self.counts
        counts.called += 1
        if not isinstance(datum, kind) or request is None:
            raise TypeError(f"{self.mid} takes a {kind.__name__}, not {datum!r}")
        counts.accepted += 1
        counts.handling += 1
        return counts

    def _fail(self, counts: Counts, began: float, request: Request, cause: BaseException) -> None:
        """Count the end of a call by *cause*; raise this module's error unless it is *passing*."""
        if isinstance(cause, self.passing):
            counts.handling -= 1
            return
        counts.end(began, failed=True)
        raise self.error(str(self.mid), request, describe(cause), failure_kind(cause)) from cause

    def _checked_mid(self, mid: MID | str | None) -> MID:
        if mid is None:
            return MID(self.letter, _serials[self.letter].take())
        mid = MID.parse(mid) if isinstance(mid, str) else mid
        if mid.letter != self.letter:
            raise ValueError(f"{mid} is not the id of a {type(self).__name__} ({self.letter}…)")
        return mid

    def __repr__(self) -> str:
        counts = self.counts
        figures = f"{counts.handling} handling, {counts.completed}/{counts.called} completed"
        return f"<{type(self).__name__} {self.mid}, {figures}>"


class _Call:
    """A context in which a module works on one datum; as a class, because it must be fast."""

    __slots__ = ("_began", "_counts", "_fail", "_request")

    def __init__(self, counts: Counts, request: Any, fail: Callable[..., None]) -> None:
        self._counts = counts
        self._request = request
        self._fail = fail
        self._began = monotonic()

    def __enter__(self) -> Counts:
        return self._counts

    def __exit__(self, _kind: object, cause: BaseException | None, _traceback: object) -> None:
        if cause is None:
            self._counts.end(self._began, failed=False)
        else:
            self._fail(self._counts, self._began, self._request, cause)


def name_of(function: object) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def describe(error: BaseException) -> str:
    """
    Return type and text of *error*, even if its own __str__ raises.

    A group is described by its first failure, and the number of the others.
    """
    if isinstance(error, BaseExceptionGroup):
        others = len(error.exceptions) - 1
        first = describe(error.exceptions[0])
        return f"{first} (and {counted(others, 'other failure')})" if others else first
    try:
        text = str(error)
    except Exception:
        text = "(its text cannot be printed)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def one_of(failures: list[BaseException], what: str) -> BaseException:
    """Return the only failure, or a group of all."""
    # A bare GeneratorExit would look like the closing of the generator in which it is raised.
    if len(failures) == 1 and not isinstance(failures[0], GeneratorExit):
        return failures[0]
    return BaseExceptionGroup(what, failures)


def failure_kind(cause: BaseException) -> str:
    """Return the stable kind of *cause*; "" means the default kind of the module's error."""
    if isinstance(cause, FetchError):
        return cause.kind
    if isinstance(cause, Refusal | Retry):
        return cause.reason
    if isinstance(cause, TimeLimit | Timeout | TimeoutError):
        return "timeout"
    return ""
