"""What a module has done, and the score that the registrar computes from it: lowest is best."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

#: The weight of the newest call in the moving averages.
_WEIGHT = 0.2
#: The seconds after which the averages count half.
_HALF_LIFE = 30.0
#: A module that fails every second call scores as if it had this many calls in flight.
_PENALTY = 16.0


@dataclass(slots=True)
class Counts:
    """
    What a module has done since the crawl started.

    *called* includes calls refused for their argument; *accepted* does not; *completed*
    calls ended without an error; *handling* calls are in flight. *latency* (seconds) and
    *failing* (0 to 1) are moving averages as of *ended_at*; they decay with time.
    """

    called: int = 0
    accepted: int = 0
    completed: int = 0
    handling: int = 0
    dropped: int = 0
    latency: float = 0.0
    failing: float = 0.0
    ended_at: float = 0.0

    def end(self, began: float, *, failed: bool) -> None:
        """Count the end of a call that began at *began*, a time of the monotonic clock."""
        now = monotonic()
        kept = self.decay(now) * (1 - _WEIGHT)
        self.handling -= 1
        self.completed += not failed
        self.latency = self.latency * kept + (now - began) * _WEIGHT
        self.failing = self.failing * kept + failed * _WEIGHT
        self.ended_at = now

    def decay(self, now: float) -> float:
        """Return the factor, 0 to 1, by which the averages have decayed since *ended_at*."""
        factor: float = 0.5 ** ((now - self.ended_at) / _HALF_LIFE)
        return factor


def load_score(counts: Counts) -> float:
    """
    Weigh the calls in flight, then recent failures and latency; totals do not count.

    A module that fails fast never has many calls in flight and would attract all data. So
    its failures count as calls in flight: a module that always fails scores above any number
    of workers. Failures and latency decay with time, so that a module gets another chance.
    Latencies that differ by less than 50 ms are equal. A module that joins late starts at 0.
    """
    decay = counts.decay(monotonic())
    latency = counts.latency * decay
    slowness = round(latency / (1.0 + latency) * 20) / 20
    failing = round(counts.failing * decay, 2)
    return counts.handling + slowness + _PENALTY * failing / (1.01 - failing)


def classic_score(counts: Counts) -> float:
    """Weigh totals as the Go webcrawler does: a module that joins late gets all data at first."""
    return counts.called + 2 * counts.accepted + 4 * counts.completed + 16 * counts.handling
