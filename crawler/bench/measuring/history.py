"""The results of all runs on this machine, to find changes for the worse."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

from ... import __version__
from .report import Report, table

#: Measures for which a higher value is better.
_MORE_IS_BETTER = frozenset({"pages_per_second"})
#: A smaller relative change counts as noise.
_NOISE = 0.2


def default_path() -> Path:
    """Return the history file in the user's data directory (XDG_DATA_HOME)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "crawler" / "bench-history.jsonl"


def prepare(path: Path) -> None:
    """Raise OSError if append() could not write to *path*."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.open("ab").close()


def append(path: Path, report: Report) -> None:
    """Append the medians of *report* as one line."""
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "command": report.command,
        "setting": report.setting,
        "rows": report.medians(),
    }
    prepare(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@dataclass
class Trend:
    """
    One measure of one row over all comparable runs, in order.

    *last* is the time of the last run, and *version* the version of the package at that time.
    """

    command: str
    setting: str
    row: str
    measure: str
    values: list[float] = field(default_factory=list)
    last: str = ""
    version: str = ""

    @property
    def change(self) -> float | None:
        """The last value relative to the median of the earlier ones: 0.1 is a tenth more."""
        *earlier, last = self.values
        return last / median(earlier) - 1 if earlier and median(earlier) else None

    @property
    def is_worse(self) -> bool:
        """Whether the last value is worse, by more than noise; after a median of 0, any value is."""
        *earlier, last = self.values
        if not earlier:
            return False
        usual = median(earlier)
        if self.measure in _MORE_IS_BETTER:
            return last < usual * (1 - _NOISE)
        return last > usual * (1 + _NOISE)


def trends(path: Path) -> list[Trend]:
    """Read the lines of append(); raise ValueError with the number of any other line."""
    found: dict[tuple[str, ...], Trend] = {}
    for run in _runs(path):
        setting = json.dumps(run["setting"], sort_keys=True)
        for row, measures in run["rows"].items():
            for measure, value in measures.items():
                key = (run["command"], setting, row, measure)
                trend = found.setdefault(key, Trend(*key))
                trend.values.append(value)
                trend.last, trend.version = run["at"], run["version"]
    return sorted(found.values(), key=lambda trend: (trend.command, trend.setting))


def _runs(path: Path) -> Iterator[dict[str, Any]]:
    lines = path.read_bytes().splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            run = _run(line)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise ValueError(
                f"{path}:{number} is not a result of a benchmark: remove the line"
            ) from None
        yield run


def _run(line: bytes) -> dict[str, Any]:
    """Parse one line; the errors that an invalid line can raise are those that _runs() catches."""
    run: dict[str, Any] = {"version": "", **json.loads(line)}
    run["setting"].items()
    values = [value for measures in run["rows"].values() for value in measures.values()]
    texts = (run[name] for name in ("at", "version", "command"))
    if not all(isinstance(text, str) for text in texts) or not all(map(isfinite, values)):
        raise TypeError
    return run


def show(found: list[Trend], last: int) -> str:
    """Show the *last* runs of each row, grouped by command and setting."""
    groups = groupby(found, key=lambda trend: (trend.command, trend.setting))
    return "\n\n".join(_comparable(list(group), last) for _, group in groups)


def _comparable(group: list[Trend], last: int) -> str:
    newest = max(group, key=lambda trend: trend.last)
    setting = ", ".join(f"{name} {value}" for name, value in json.loads(newest.setting).items())
    rows = [
        (
            trend.row,
            trend.measure,
            "" if trend.change is None else f"{trend.change:+.0%}",
            "WORSE" if trend.is_worse else "",
            " ".join(f"{value:.4g}" for value in trend.values[-last:]),
        )
        for trend in group
    ]
    head = ("row", "measure", "change", "", "runs, the newest on the right")
    title = f"{newest.command}: {setting}; last run {newest.last}, version {newest.version}"
    return f"{title}\n{table(head, rows)}"
