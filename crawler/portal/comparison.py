"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..report.text import clock, size
from .figures import RunFigures
from .rendering import number, seconds


class Row(NamedTuple):
    label: str
    first: str
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second


def comparison(first: RunFigures, second: RunFigures) -> list[Row]:
    """Return the figures of two runs; a reason or status code of one of them is 0 in the other."""
    one, other = _figures(first), _figures(second)
    return [Row(name, one.get(name, "0"), other.get(name, "0")) for name in {**one, **other}]


def _figures(run: RunFigures) -> dict[str, str]:
    counts = {name: number(value) for name, value in run.queue.to_dict().items()}
    return counts | dict(_speed(run.summary)) | dict(_reasons(run))


def _speed(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield nothing for a run that has committed no summary."""

    if not summary:
        return
    for name in ("processed", "failed", "dropped"):
        yield f"records {name}", number(summary["items"][name])
    yield "time", clock(summary["elapsed"])
    yield "pages per second", number(summary["rate"])
    yield "received", size(summary["bytes"])
    yield "latency, half within", seconds(summary["latency"]["p50"])
    yield "latency, 99 % within", seconds(summary["latency"]["p99"])


def _reasons(run: RunFigures) -> Iterator[tuple[str, str]]:
    for code, times in run.codes:
        yield f"status {code}", number(times)
    for outcome in run.outcomes:
        yield f"{outcome.status.replace('_', ' ')}: {outcome.reason}", number(outcome.number)
