"""Rows measured round by round, so that a slow phase of the machine affects all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .child import BenchError
from .report import Samples


def interleaved(
    names: Iterable[str],
    repeats: int,
    measure: Callable[[str], Mapping[str, float]],
    show_progress: Callable[[str], object],
) -> tuple[dict[str, Samples], list[str]]:
    """
    *measure* each of *names* once per round; return the rows, and the failures with their reasons.

    A name that fails in any round has no row, because rows are compared round by round.
    *show_progress* is called with a line before each measurement.
    """
    rows: dict[str, Samples] = {name: {} for name in names}
    failures: list[str] = []
    for repeat in range(repeats):
        for name in list(rows):
            show_progress(f"{repeat + 1}/{repeats} {name}")
            try:
                found = measure(name)
            except BenchError as error:
                failures.append(f"{name}: {error}")
                del rows[name]
                continue
            for what, value in found.items():
                rows[name].setdefault(what, []).append(value)
    if not rows:
        raise BenchError("; ".join(failures))
    return rows, failures
