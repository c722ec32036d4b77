"""Durations: how often something was done, and how long it took."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

#: Upper bounds of seconds.
DURATION_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, math.inf)


class Durations:
    def __init__(self) -> None:
        self._numbers: Counter[int] = Counter()
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        self._numbers[bisect_left(DURATION_BOUNDS, seconds)] += 1
        self._seconds += seconds

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Add how long the block takes, however it ends."""
        began = monotonic()
        try:
            yield
        finally:
            self.add(monotonic() - began)

    def figures(self) -> dict[str, Any]:
        """Return how often it took up to each of DURATION_BOUNDS, and the seconds of all of it."""
        numbers = [self._numbers[place] for place in range(len(DURATION_BOUNDS))]
        return {"numbers": numbers, "seconds": self._seconds}
