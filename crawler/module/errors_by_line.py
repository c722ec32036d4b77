"""ErrorsByLine: the errors of callbacks and pipelines, by the line of code that raised them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import AnalyzeError, ModuleError, PipelineError
from .error_line import line_of, trace_of

log = logging.getLogger(__name__)

#: The kinds of errors that the user's code has raised itself.
_KINDS = frozenset({"parse", "process", "timeout"})
#: How many places are kept; the errors at other places are only counted.
_MOST_LINES = 50
#: The characters of an error's text, and of a URL, that are kept.
_MOST_TEXT, _MOST_URL = 200, 500


@dataclass(slots=True)
class ErrorLine:
    """
    The errors of one type that one line raised.

    *text*, *first* (a URL) and *trace* are those of the first such error. *line* is empty if no
    line of the user's code was involved.
    """

    line: str
    text: str
    first: str
    trace: str
    number: int = 0

    @property
    def what(self) -> str:
        return f"{self.line} {self.text}".strip()

    def is_of(self, text: str) -> bool:
        """Return whether an error is of this line and type, by what add() returned for it."""
        return text.startswith(self.what.partition(": ")[0])

    def __str__(self) -> str:
        times = f" × {self.number}" if self.number > 1 else ""
        return f"{self.what}{times}, first {self.first}"


class ErrorsByLine:
    """Groups errors by file, line and type; bounded, whatever pages and callbacks do."""

    def __init__(self) -> None:
        self._places: dict[str, ErrorLine] = {}
        #: The number of errors at places that are not kept.
        self.others = 0
        self._is_changed = False

    def add(self, error: ModuleError) -> str:
        """Count *error*; return its place and text if it is one of the user's code, else ""."""
        cause = error.__cause__
        if not isinstance(error, AnalyzeError | PipelineError) or error.kind not in _KINDS:
            return ""
        if cause is None:
            return ""
        self._is_changed = True
        place = line_of(cause)
        line = "" if place is None else f"{Path(place[0]).name}:{place[1]}"
        text = error.reason[:_MOST_TEXT]
        key = repr((place, text.partition(":")[0]))
        known = self._places.get(key)
        if known is None:
            known = ErrorLine(line, text, error.request.url[:_MOST_URL], trace_of(cause))
            self._keep(key, known)
        known.number += 1
        return f"{line} {text}".strip()

    def most(self, number: int = _MOST_LINES) -> list[ErrorLine]:
        """Return the places with the most errors."""
        return sorted(self._places.values(), key=lambda one: -one.number)[:number]

    def changes(self) -> dict[str, Any] | None:
        """Return all places for a job to keep, as JSON values; None if nothing has changed."""
        if not self._is_changed:
            return None
        self._is_changed = False
        places = {key: asdict(place) for key, place in self._places.items()}
        return {"places": places, "others": self.others}

    def continue_from(self, kept: Mapping[str, Any]) -> None:
        self._places = {key: ErrorLine(**place) for key, place in kept["places"].items()}
        self.others = kept["others"]

    def _keep(self, key: str, place: ErrorLine) -> None:
        if len(self._places) < _MOST_LINES:
            self._places[key] = place
            log.error("%s, on %s", place.what, place.first)
        else:
            self.others += 1
