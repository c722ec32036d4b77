"""The results of earlier runs on this machine, so that a change for the worse is seen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from .report import Report, table

#: Measures of which more is better.
_MORE_IS_BETTER = frozenset({"pages_per_second"})
#: A change beyond this is worth a look; less is not told from noise.
_NOISE = 0.2


def default_path() -> Path:
    """Return the file in the data directory of the user (XDG_DATA_HOME)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "crawler" / "bench-history.jsonl"


def append(path: Path, report: Report) -> None:
    """Add the medians of *report* as one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": report.command,
        "setting": report.setting,
        "rows": report.medians(),
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@dataclass
class Trend:
    """One measure of one row, over the runs that can be compared, in order."""

    command: str
    row: str
    measure: str
    setting: str
    values: list[float] = field(default_factory=list)

    @property
    def change(self) -> float | None:
        """The last value against the median of the earlier ones: 0.1 is a tenth more."""
        *earlier, last = self.values
        return last / median(earlier) - 1 if earlier and median(earlier) else None

    @property
    def is_worse(self) -> bool:
        """Tell whether the change is for the worse, and more than noise."""
        change = self.change or 0.0
        return (-change if self.measure in _MORE_IS_BETTER else change) > _NOISE


def trends(path: Path) -> list[Trend]:
    """Read what append() wrote; a line that is none of it is a ValueError that names it."""
    found: dict[tuple[str, ...], Trend] = {}
    for run in _lines(path):
        setting = json.dumps(run["setting"], sort_keys=True)
        for row, measures in run["rows"].items():
            for measure, value in measures.items():
                key = (run["command"], row, measure, setting)
                found.setdefault(key, Trend(*key)).values.append(value)
    return list(found.values())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            run = json.loads(line)
            run["command"], run["setting"], run["rows"].items()
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(
                f"{path}:{number} is no result of a benchmark: remove the line"
            ) from None
        yield run


def show(found: list[Trend], last: int) -> str:
    """Show the *last* runs of each row, the newest to the right."""
    rows = [
        (
            f"{trend.command}: {trend.row}",
            trend.measure,
            "" if trend.change is None else f"{trend.change:+.0%}",
            "WORSE" if trend.is_worse else "",
            " ".join(f"{value:.4g}" for value in trend.values[-last:]),
        )
        for trend in found
    ]
    return table(("row", "measure", "change", "", "runs"), rows)
