"""Reopening: which rows of a store wait again, and which are given up, before a job continues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..budget import CUT_OFF
from ..outcome import Outcome, failed
from .rows import ended
from .store import Store

#: After how many deaths of the process a page is set aside: STRIKES if it was the only page under
#: analysis the last time, so that it is known to be the cause; else MOST_STRIKES.
STRIKES = 3
MOST_STRIKES = 10

_REOPEN = """
UPDATE urls SET status = NULL, reason = NULL, redirects = NULL, attempts = NULL, ended = NULL,
    end_seal = NULL, progress = NULL
"""


@dataclass(frozen=True)
class FailedPages:
    """The pages of a job that have failed for one of *reasons*, or for any if there is none."""

    reasons: tuple[str, ...] = ()


def requeue(change: Any) -> int:
    """Let URLs wait again that were refused because a limit was reached; return how many."""
    among = ",".join("?" * len(CUT_OFF))
    return int(change(f"{_REOPEN} WHERE status = 'refused' AND reason IN ({among})", *CUT_OFF))


def retry(change: Any, pages: FailedPages) -> None:
    """Let *pages* wait again, from the start, and forget the failures of their hosts."""
    among = f"AND reason IN ({','.join('?' * len(pages.reasons))})" if pages.reasons else ""
    if change(f"{_REOPEN} WHERE status = 'failed' {among}", *pages.reasons):
        change("DELETE FROM hosts WHERE failures > 0")
        change("DELETE FROM strikes")


def has_rows(store: Store, numbers: list[int]) -> bool:
    """Return whether all *numbers* are those of rows."""
    return all(list(store.rows("SELECT 1 FROM urls WHERE id = ?", number)) for number in numbers)


def strike(store: Store, change: Any) -> tuple[int, frozenset[str]]:
    """
    Count it against the pages that were being analysed that the process ended there.

    Return how many were given up, and the ids of those that are still under suspicion.
    """
    marked = store.marker.rows
    for number in marked:
        change(
            "INSERT INTO strikes VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET number = number + 1",
            number,
        )
    # Rows that have ended since, or were never committed: their numbers may be given again.
    change(
        "DELETE FROM strikes WHERE NOT EXISTS "
        "(SELECT 1 FROM urls WHERE urls.id = strikes.id AND status IS NULL)"
    )
    out = "SELECT id FROM strikes WHERE number >= ?"
    strikes = STRIKES if len(marked) == 1 else MOST_STRIKES
    often = [number for (number,) in store.rows(out, strikes) if number in marked]
    struck_out = sum(repair(change, number, failed("quarantined")) for number in often)
    # CROSS, or SQLite may go through all URLs and look for the strikes of each.
    open_ones = "SELECT strikes.id FROM strikes CROSS JOIN urls USING (id) WHERE status IS NULL"
    return struck_out, frozenset(f"{number:x}" for (number,) in store.rows(open_ones))


def repair(change: Any, number: int, outcome: Outcome | None) -> int:
    """Give a row that waits, or is damaged, its *outcome*; None lets it wait. Return the number."""
    if outcome is None:
        return int(change(f"{_REOPEN} WHERE id = ?", number))
    end = ended(number, outcome)
    return int(
        change(
            "UPDATE urls SET status = ?, reason = ?, ended = ?, end_seal = ?, redirects = NULL "
            "WHERE id = ? AND (status IS NULL OR ?)",
            end[1],
            end[2],
            end[-2],
            end[-1],
            number,
            outcome.reason == "damaged",
        )
    )
