"""Summary: a crawl at one moment."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ..buffer import PoolFigures
from ..frontier import UrlCounts
from ..module import ModuleSummary
from .args import DataArgs
from .meter import Latency

#: Seconds between two live summaries.
_INTERVAL = 1.0


@dataclass(frozen=True)
class ItemCounts:
    """found = processed + failed + dropped + pending, where pending are in the pool or a pipeline."""

    found: int = 0
    processed: int = 0
    failed: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class ErrorCounts:
    """*dropped* errors were pushed out of a full pool before a consumer read them."""

    reported: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class Summary:
    """
    Taken in one pass, so that its figures agree with each other.

    Two summaries are equal when nothing has happened between them: *elapsed*, *rate* and
    what it waits for, which change by themselves, do not count.
    """

    status: str
    paused: bool
    request_args: Mapping[str, Any]
    data_args: DataArgs
    module_args: Mapping[str, Any]
    downloaders: tuple[ModuleSummary, ...]
    analyzers: tuple[ModuleSummary, ...]
    pipelines: tuple[ModuleSummary, ...]
    request_pool: PoolFigures
    response_pool: PoolFigures
    item_pool: PoolFigures
    error_pool: PoolFigures
    urls: UrlCounts
    retried: int
    #: The first few URLs of each reason to fail, refuse or turn away.
    samples: Mapping[str, list[str]]
    #: How many pages were found to have moved for good.
    moved: int
    items: ItemCounts
    errors: ErrorCounts
    responses: int
    bytes: int
    status_codes: Mapping[int, int]
    latency: Latency
    #: What keeps the next request from being taken, and for how many seconds, if that is known.
    waiting_for: str = field(compare=False)
    next_wake: float | None = field(compare=False)
    #: How many requests wait in the frontier, and why the host that is due first is not due yet.
    queued: int = field(compare=False)
    resting: str = field(compare=False)
    #: Seconds of CPU the process has used since the start.
    cpu: float = field(compare=False)
    rate: float = field(compare=False)
    elapsed: float = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return json.dumps(self.to_dict(), indent=4)


class LiveSummary:
    """Returns what *take* returns as plain values, once a second at most; None in between."""

    def __init__(self, take: Callable[[], Summary], clock: Callable[[], float] = monotonic) -> None:
        self._take = take
        self._clock = clock
        self._due = 0.0

    def __call__(self) -> dict[str, Any] | None:
        now = self._clock()
        if now < self._due:
            return None
        self._due = now + _INTERVAL
        return self._take().to_dict()

    def renew(self) -> None:
        """Let the next call return a summary in any case."""
        self._due = 0.0
