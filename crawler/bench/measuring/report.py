"""The result of a benchmark: samples by row and measure, and the targets for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, TypeAlias

#: The samples of a row by measure, one per repeat, in order.
Samples: TypeAlias = "dict[str, list[float]]"

#: Measures that are summed: a median would hide the one trial that failed.
_COUNTS = frozenset({"lost", "doubled", "exchanges_lost", "exchanges_doubled", "refetched"})
#: Measures that the history leaves out: the effort, and functions, whose line numbers change.
_NOT_SAVED = frozenset({"kills", "trials", "own_us"})


@dataclass(frozen=True)
class Target:
    """A *value* that should be at most, or at least, *bound*."""

    text: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{'yes' if self.holds else 'NO ':<4}{self.text}: {self.value:.2f} ({sign} {self.bound:g})"


@dataclass(frozen=True)
class Report:
    """
    One run of a benchmark.

    Two runs are comparable if *command* and *setting* are equal. *notes* are printed below the
    table; *failures* name the rows that are missing, with the reason.
    """

    command: str
    setting: Mapping[str, Any]
    rows: Mapping[str, Samples]
    targets: Sequence[Target] = ()
    notes: Sequence[str] = ()
    failures: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        targets = [asdict(target) | {"holds": target.holds} for target in self.targets]
        return asdict(self) | {"targets": targets}

    def medians(self) -> dict[str, dict[str, float]]:
        """Return one number per measure, for comparison with later runs."""
        found = {
            row: {
                measure: sum(values) if measure in _COUNTS else median(values)
                for measure, values in samples.items()
                if measure not in _NOT_SAVED
            }
            for row, samples in self.rows.items()
        }
        return {row: measures for row, measures in found.items() if measures}


def times(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the ratio of each repeat: a slow phase of the machine affects both values."""
    return [a / b for a, b in zip(one, other, strict=True)]


def ratio(row: Samples, limit: Samples | None, measure: str) -> str:
    """Show the ratios to the row *limit*; "" if one of them has no such samples."""
    if limit is None or measure not in row or measure not in limit:
        return ""
    return spread(times(row[measure], limit[measure]), 2)


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Show the median, and for several values the minimum and maximum; "" for none."""
    if len(values) < 2:
        return "".join(f"{value:.{digits}f}" for value in values)
    return f"{median(values):.{digits}f} [{min(values):.{digits}f}–{max(values):.{digits}f}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Align *rows* of text below *head*: the first column left, the others right."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = map(_pad, cells, widths, [str.ljust, *[str.rjust] * (len(cells) - 1)])
        return "  ".join((first, *others)).rstrip()

    return "\n".join(map(line, lines))


def _pad(text: str, width: int, justify: Callable[[str, int], str]) -> str:
    return justify(text, width)


def text(report: Report, shown: str) -> str:
    """Return *shown*, the table, with targets and notes below."""
    lines = [shown]
    if report.targets:
        lines += ["", "holds  target", *(f"  {target}" for target in report.targets)]
    if report.notes:
        lines += ["", *report.notes]
    return "\n".join(lines)
