"""The results of earlier runs on this machine, so that a change for the worse is seen."""

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

#: Measures of which more is better.
_MORE_IS_BETTER = frozenset({"pages_per_second"})
#: A change beyond this is worth a look; less is not told from noise.
_NOISE = 0.2


def default_path() -> Path:
    """Return the file in the data directory of the user (XDG_DATA_HOME)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "crawler" / "bench-history.jsonl"


def prepare(path: Path) -> None:
    """Find out, by an OSError, whether append() could write to *path*."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.open("ab").close()


def append(path: Path, report: Report) -> None:
    """Add what is to be kept of *report* as one line."""
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "command": report.command,
        "setting": report.setting,
        "rows": report.kept(),
    }
    prepare(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@dataclass
class Trend:
    """
    One measure of one row, over the runs that can be compared, in order.

    *last* is when the last of them was, and *version* that of the package then.
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
        """The last value against the median of the earlier ones: 0.1 is a tenth more."""
        *earlier, last = self.values
        return last / median(earlier) - 1 if earlier and median(earlier) else None

    @property
    def is_worse(self) -> bool:
        """Tell whether the change is for the worse, and more than noise; after none, any is."""
        *earlier, last = self.values
        if not earlier:
            return False
        usual = median(earlier)
        if self.measure in _MORE_IS_BETTER:
            return last < usual * (1 - _NOISE)
        return last > usual * (1 + _NOISE)


def trends(path: Path) -> list[Trend]:
    """Read what append() wrote; a line that is none of it is a ValueError that names it."""
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
                f"{path}:{number} is no result of a benchmark: remove the line"
            ) from None
        yield run


def _run(line: bytes) -> dict[str, Any]:
    """Read one line; whatever is wrong with it raises one of the errors of a wrong value."""
    run: dict[str, Any] = {"version": "", **json.loads(line)}
    run["setting"].items()
    values = [value for measures in run["rows"].values() for value in measures.values()]
    texts = (run[name] for name in ("at", "version", "command"))
    if not all(isinstance(text, str) for text in texts) or not all(map(isfinite, values)):
        raise TypeError
    return run


def show(found: list[Trend], last: int) -> str:
    """Show the *last* runs of each row, those of one command and setting together."""
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
    head = ("row", "measure", "change", "", "runs, the newest to the right")
    told = f"{newest.command}: {setting}; the last at {newest.last}, version {newest.version}"
    return f"{told}\n{table(head, rows)}"
