"""Quality gates: conditions that the summary of a crawl must not meet."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from ..scheduler import Summary

_GATE = re.compile(
    r"\s*([a-z_]+|status:[1-5](?:xx|[0-9]{2}))\s*(>=|<=|>|<|==)\s*([0-9.]+)\s*(%?)\s*"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
}
#: The figures that a condition can name, beside status:404 and status:5xx.
_MEASURES: dict[str, Callable[[Summary], float]] = {
    "done": lambda summary: summary.urls.done,
    "failed": lambda summary: sum(summary.urls.failed.values()),
    "refused": lambda summary: sum(summary.urls.refused.values()),
    "pending": lambda summary: summary.urls.pending,
    "items": lambda summary: summary.items.processed,
    "errors": lambda summary: summary.errors.reported,
    "dropped": lambda summary: summary.items.dropped,
    "seconds": lambda summary: summary.elapsed,
}


_STATUS = "status:"


@dataclass(frozen=True)
class Gate:
    """
    A condition such as "failed>1%" or "status:5xx>10%". The gate is not met if it holds.

    A percentage is one of the admitted URLs; that of a status, one of all responses.
    """

    text: str
    measure: str
    compare: str
    number: float
    percent: bool

    @classmethod
    def parse(cls, text: str) -> Gate:
        found = _GATE.fullmatch(text)
        if found is None or not (found[1] in _MEASURES or found[1].startswith(_STATUS)):
            names = ", ".join([*_MEASURES, "status:404", "status:5xx"])
            raise ValueError(f"{text!r} is not a condition such as 'failed>1%'; names are {names}")
        return cls(text.strip(), found[1], found[2], float(found[3]), bool(found[4]))

    @classmethod
    def at_least(cls, items: int) -> Gate:
        if items < 0:
            raise ValueError(f"--min-items must be 0 or more, not {items}")
        return cls(f"items<{items}", "items", "<", items, percent=False)

    def failure(self, summary: Summary) -> str | None:
        """Return why *summary* does not meet the gate, or None if it does."""
        value, whole = self._measured(summary)
        if self.percent:
            value = 100 * value / max(1, whole)
        if not _COMPARE[self.compare](value, self.number):
            return None
        return f"{self.text}: {self.measure} is {value:g}{'%' if self.percent else ''}"

    def _measured(self, summary: Summary) -> tuple[float, int]:
        """Return the figure, and what it is a part of."""
        if not self.measure.startswith(_STATUS):
            return _MEASURES[self.measure](summary), summary.urls.admitted
        wanted, codes = self.measure.removeprefix(_STATUS).rstrip("x"), summary.status_codes
        number = sum(n for code, n in codes.items() if str(code).startswith(wanted))
        return number, sum(codes.values())


def checked_report(path: Path) -> Path:
    """Return *path*; raise ValueError if a report cannot be written there."""
    if path.suffix not in (".json", ".xml"):
        raise ValueError(
            f"cannot write a report to {str(path)!r}: its name must end in .json (the summary) "
            "or .xml (the gates, for JUnit)"
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"cannot write a report to {str(path)!r}: {path.parent} is not a directory"
        )
    return path


def write_report(path: Path, summary: Summary, gates: Sequence[Gate]) -> None:
    """Write the summary as JSON or the gates as JUnit XML; the extension of *path* decides."""
    if checked_report(path).suffix == ".json":
        failures = [failure for gate in gates if (failure := gate.failure(summary))]
        path.write_text(json.dumps(summary.to_dict() | {"gates_not_met": failures}, indent=2))
        return
    cases = "".join(_case(gate, gate.failure(summary)) for gate in gates)
    failed = sum(gate.failure(summary) is not None for gate in gates)
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="crawl" tests="{len(gates)}" failures="{failed}" '
        f'time="{summary.elapsed:.3f}">{cases}</testsuite>\n'
    )


def _case(gate: Gate, failure: str | None) -> str:
    inside = f"<failure message={quoteattr(failure)}/>" if failure else ""
    return f'<testcase classname="crawl" name={quoteattr(gate.text)}>{inside}</testcase>'
