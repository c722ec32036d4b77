"""What it costs to put a datum into a pool and get it out again, side by side with gevent's queue."""

from __future__ import annotations

import argparse
import json
import timeit
from collections.abc import Callable

from gevent.queue import Queue

from ..buffer import Pool


def crowded() -> Pool[int]:
    """A pool of several buffers: the usual state behind a slow stage."""
    pool = Pool[int](50, 20)
    for n in range(500):
        pool.put(n)
    return pool


def put_and_get(pool: Pool[int] | Queue[int]) -> Callable[[], None]:
    def once() -> None:
        pool.put(1)
        pool.get()

    return once


def run(number: int) -> dict[str, float]:
    """Return microseconds by row: the best of five interleaved runs."""
    rows = {
        "gevent Queue": put_and_get(Queue(1000)),
        "Pool, empty": put_and_get(Pool(50, 20)),
        "Pool, 500 data": put_and_get(crowded()),
    }
    samples: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(5):
        for name, once in rows.items():
            samples[name].append(timeit.timeit(once, number=number) / number * 1e6)
    return {name: min(times) for name, times in samples.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m crawler.bench.pool", description=__doc__)
    parser.add_argument("--number", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    costs = run(options.number)
    if options.json:
        print(json.dumps(costs))
        return
    print(f"{'one put and get':<20}{'µs':>8}")
    for name, cost in costs.items():
        print(f"{name:<20}{cost:>8.2f}")


if __name__ == "__main__":
    main()
