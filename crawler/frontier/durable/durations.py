"""CommitTimes: how many commits there were, and how long they took."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from typing import Any

#: Upper bounds of seconds.
COMMIT_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, math.inf)


class CommitTimes:
    def __init__(self) -> None:
        self._numbers: Counter[int] = Counter()
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        self._numbers[bisect_left(COMMIT_BOUNDS, seconds)] += 1
        self._seconds += seconds

    def figures(self) -> dict[str, Any]:
        """Return the number of commits up to each of COMMIT_BOUNDS, and the seconds of all of them."""
        numbers = [self._numbers[place] for place in range(len(COMMIT_BOUNDS))]
        return {"numbers": numbers, "seconds": self._seconds}
