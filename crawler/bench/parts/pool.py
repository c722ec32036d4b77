"""The cost of one put and get of a pool, next to gevent's queue."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from statistics import median
from typing import Any

from gevent.queue import Queue

from ...buffer import Pool
from ..measuring.child import Child
from ..measuring.report import Report, Samples, Target, spread, table, text, times

_QUEUE = "gevent Queue"
#: Target: µs of one put and get, as Pool promises.
_MOST = 3.0
#: The timeout of the benchmark in seconds.
_LONGEST = 600.0


def crowded() -> Pool[int]:
    """Return a pool with several buffers: the usual state before a slow stage."""
    pool = Pool[int](50, 20)
    for n in range(500):
        pool.put(n)
    return pool


def put_and_get(pool: Pool[int] | Queue[int]) -> Callable[[], None]:
    def once() -> None:
        pool.put(1)
        pool.get()

    return once


def measure(number: int, repeats: int) -> dict[str, Any]:
    """Return µs by row, one sample per repeat; repeats are interleaved."""
    rows = {
        _QUEUE: put_and_get(Queue(1000)),
        "Pool, empty": put_and_get(Pool(50, 20)),
        "Pool, 500 data": put_and_get(crowded()),
    }
    samples: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(repeats):
        for name, once in rows.items():
            samples[name].append(timeit.timeit(once, number=number) / number * 1e6)
    return {"samples": samples}


def run(number: int, repeats: int) -> Report:
    child = Child("crawler.bench.parts.pool:measure", {"number": number, "repeats": repeats})
    found = child.run(_LONGEST)["samples"]
    rows: dict[str, Samples] = {name: {"us": samples} for name, samples in found.items()}
    targets = [
        Target(f"µs of a put and get, {name}", median(samples), _MOST)
        for name, samples in found.items()
        if name != _QUEUE
    ]
    return Report("pool", {"number": number}, rows, targets)


def show(report: Report) -> str:
    first = report.rows[_QUEUE]["us"]
    rows = [
        (name, spread(times(samples["us"], first), 2), spread(samples["us"], 2))
        for name, samples in report.rows.items()
    ]
    return text(report, table(("one put and get", f"× {_QUEUE}", "µs"), rows))
