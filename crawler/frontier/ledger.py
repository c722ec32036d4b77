"""Ledger: how many URLs were met, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..credentials import hide_passwords
from .outcome import DONE, Outcome


@dataclass(frozen=True, slots=True)
class UrlCounts:
    """
    What became of the URLs met so far.

    met = admitted + turned_away, and admitted = done + failed + refused + pending.
    URLs in *turned_away* were never admitted; those in *refused* were, and a rule that
    applies later refused them. *found_nearer* of those admitted were found again at a smaller
    depth than that at which they were fetched.
    """

    met: int = 0
    admitted: int = 0
    pending: int = 0
    done: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    turned_away: Mapping[str, int] = field(default_factory=dict)
    found_nearer: int = 0


#: How many URLs are kept as samples of a reason.
_SAMPLES = 3


class Ledger:
    """Counts admissions and outcomes; *pending* requests are admitted and not settled."""

    def __init__(self) -> None:
        #: By reason to fail, refuse or turn away, the first few URLs.
        self.samples: dict[str, list[str]] = {}
        self.admitted = 0
        self.done = 0
        self.failed: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.turned_away: Counter[str] = Counter()
        self.pending = 0
        self.found_nearer = 0

    def admit(self) -> None:
        self.admitted += 1
        self.pending += 1

    def move_out(self) -> None:
        """Count an admitted request no more: the ledger of another frontier has it."""
        self.admitted -= 1
        self.pending -= 1

    def turn_away(self, reason: str, url: str) -> None:
        self.turned_away[reason] += 1
        self.sample(reason, url)

    def settle(self, outcome: Outcome, url: str) -> None:
        self.pending -= 1
        if outcome == DONE:
            self.done += 1
            return
        self.sample(outcome.reason, url)
        if outcome.status == "failed":
            self.failed[outcome.reason] += 1
        else:
            self.refused[outcome.reason] += 1

    def counts(self) -> UrlCounts:
        return UrlCounts(
            met=self.admitted + self.turned_away.total(),
            admitted=self.admitted,
            pending=self.pending,
            done=self.done,
            failed=dict(self.failed),
            refused=dict(self.refused),
            turned_away=dict(self.turned_away),
            found_nearer=self.found_nearer,
        )

    def sample(self, reason: str, url: str) -> None:
        sample = self.samples.setdefault(reason, [])
        if len(sample) < _SAMPLES:
            sample.append(hide_passwords(url))
