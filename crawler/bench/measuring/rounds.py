"""Rows that are measured round by round, so that what slows the machine for a while is in all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .child import BenchError
from .report import Samples


def interleaved(
    names: Iterable[str],
    repeats: int,
    measure: Callable[[str], Mapping[str, float]],
    told: Callable[[str], object],
) -> tuple[dict[str, Samples], list[str]]:
    """
    *measure* each of *names* once a round; return the rows, and which failed and why.

    One that fails in any round is no row: rows are compared round by round. *told* is called
    with what is about to be measured.
    """
    rows: dict[str, Samples] = {name: {} for name in names}
    failures: list[str] = []
    for repeat in range(repeats):
        for name in list(rows):
            told(f"{repeat + 1}/{repeats} {name}")
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
