"""
The cost of the frontier: CPU per request, and memory per waiting URL.

Each row is measured in a process of its own, so that none inherits the memory of another. The clock
is simulated, so that nothing waits for a host to be due. Repeats are interleaved.
"""

from __future__ import annotations

import gc
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ...data import Link, Response
from ...frontier import DONE, Frontier, Politeness, Retries, Scope, Taken
from ...frontier.hosts.host import Address
from ...headers import Headers
from ..measuring.child import Child
from ..measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from ..measuring.rounds import interleaved

#: Target: the cost of a request in any row, divided by that in the first row.
MOST_TIMES = 1.5
#: With a smaller scale, rows would have the same size.
LEAST_SCALE = 0.001
#: Target: the MB of a million waiting URLs.
MOST_MEGABYTES = 200

_IN_FLIGHT = 64
#: The timeout of a row in seconds.
_LONGEST = 600.0
_DELAY = 1.0
_DOMAIN = "bench.test"
_FOUND_ON = f"http://{_DOMAIN}/"
#: The Retry-After of the hosts that are backed off, in seconds.
_BACKED_OFF = "86400"


@dataclass(frozen=True)
class Cost:
    """Microseconds of CPU per request, and the MB of all waiting URLs of a row."""

    admit: float
    cycle: float | None = None
    megabytes: float | None = None


class Load:
    """A frontier with *urls* spread evenly over *hosts*, and a simulated clock."""

    def __init__(
        self,
        hosts: int,
        urls: int,
        *,
        name: str = "host",
        max_depth: int | None = None,
        **limits: object,
    ) -> None:
        self.now = 1000.0
        self.name = name
        self.hosts = hosts
        self.urls = urls
        self.frontier = Frontier(
            Scope([_DOMAIN], max_depth=max_depth),
            politeness=Politeness.off(**{"per_host": 2, "delay": _DELAY} | limits),
            retries=Retries(1),
            clock=lambda: self.now,
        )

    def links(self) -> Iterator[Link]:
        for n in range(self.urls):
            number, page = n % self.hosts, n // self.hosts
            yield Link(
                f"http://{self.name}-{number}.{_DOMAIN}/section/page-{page}.html", 1, _FOUND_ON
            )

    def admit(self) -> float:
        """Admit all URLs; return the cost of one."""
        links = list(self.links())
        admit = self.frontier.admit
        began = _cpu()
        for link in links:
            admit(link)
        return (_cpu() - began) / self.urls

    def cycle(self, requests: int, status: int = 200, step: float | None = None) -> float:
        """Take, fetch and settle that many *requests*; return the cost of one."""
        frontier = self.frontier
        step = 1.01 * _DELAY / self.hosts if step is None else step
        in_flight: deque[Taken] = deque()
        most = min(_IN_FLIGHT, self.hosts)
        headers = Headers({"retry-after": _BACKED_OFF})
        began = _cpu()
        for _ in range(requests):
            if len(in_flight) == most:
                self._end(in_flight.popleft(), status, headers)
            self.now += step
            while wait := frontier.view.next_wake():
                self.now += wait
            in_flight.append(frontier.take())
        for taken in in_flight:
            self._end(taken, status, headers)
        return (_cpu() - began) / requests

    def _end(self, taken: Taken, status: int, headers: Headers) -> None:
        response = Response(taken.request.url, status, headers, b"", taken.request, 0.01)
        self.frontier.fetched(taken, response)
        self.frontier.settle(taken, DONE)


def over_hosts(hosts: int, requests: int) -> Cost:
    load = Load(hosts, max(requests, hosts))
    return Cost(load.admit(), load.cycle(requests))


def one_host(urls: int, requests: int) -> Cost:
    load = Load(1, urls)
    return Cost(load.admit(), load.cycle(requests))


def one_address(hosts: int, requests: int) -> Cost:
    step = _DELAY / hosts
    load = Load(hosts, requests, per_ip=2 * _IN_FLIGHT, ip_delay=step)
    table, address = load.frontier._parts.hosts.table, Address()  # noqa: SLF001
    for number in range(hosts):
        # Set before any URL waits, so that no address is looked up.
        table.find_or_add(f"host-{number}.{_DOMAIN}").address = address
    return Cost(load.admit(), load.cycle(requests, step=step))


def backed_off(hosts: int, resting: int, requests: int) -> Cost:
    """Return the cost of *hosts* next to idle hosts that are backed off for a day (*resting*)."""
    load = Load(resting, resting, name="ill")
    load.admit()
    load.cycle(resting, status=503)
    load.hosts, load.urls, load.name = hosts, requests, "host"
    return Cost(load.admit(), load.cycle(requests))


def memory(hosts: int, urls: int, max_depth: int | None = None) -> Cost:
    load = Load(hosts, urls, max_depth=max_depth)
    gc.collect()
    before = _resident()
    began = _cpu()
    for link in load.links():
        load.frontier.admit(link)
    return Cost((_cpu() - began) / urls, megabytes=(_resident() - before) / 1e6)


@dataclass(frozen=True)
class Row:
    name: str
    measure: Callable[[], Cost]


def rows(scale: float = 1.0) -> dict[str, Row]:
    """Return all rows; *scale* multiplies their numbers."""
    if not LEAST_SCALE <= scale <= 1:
        raise ValueError(f"scale must be from {LEAST_SCALE} to 1, not {scale}")

    def scaled(number: int) -> int:
        return max(20, int(number * scale))

    requests = scaled(200_000)
    listed = [
        Row("10 hosts", lambda: over_hosts(10, requests)),
        Row(f"{scaled(1000):,} hosts", lambda: over_hosts(scaled(1000), requests)),
        Row(f"{scaled(100_000):,} hosts", lambda: over_hosts(scaled(100_000), requests)),
        Row(
            f"1 host, {scaled(1_000_000):,} URLs",
            lambda: one_host(scaled(1_000_000), requests),
        ),
        Row(
            f"{scaled(10_000):,} hosts on 1 address",
            lambda: one_address(scaled(10_000), requests),
        ),
        Row(
            f"{scaled(1000):,} hosts, {scaled(250_000):,} backed off",
            lambda: backed_off(scaled(1000), scaled(250_000), requests),
        ),
        Row(
            f"{scaled(1_000_000):,} URLs, {scaled(50_000):,} hosts",
            lambda: memory(scaled(50_000), scaled(1_000_000)),
        ),
        Row(
            f"{scaled(1_000_000):,} URLs, with max_depth",
            lambda: memory(scaled(50_000), scaled(1_000_000), max_depth=5),
        ),
    ]
    return {row.name: row for row in listed}


def measure(row: str, scale: float) -> dict[str, Any]:
    """Measure one row; this runs in a child process."""
    costs = asdict(rows(scale)[row].measure())
    return {measure: cost for measure, cost in costs.items() if cost is not None}


def run(
    scale: float, repeats: int, show_progress: Callable[[str], object] = lambda _: None
) -> Report:
    """Measure each row in child processes, interleaved."""
    found, failures = interleaved(
        rows(scale), repeats, lambda name: _sample(name, scale), show_progress
    )
    return Report("frontier", {"scale": scale}, found, _targets(found, scale), failures=failures)


def _sample(row: str, scale: float) -> dict[str, float]:
    child = Child("crawler.bench.parts.frontier:measure", {"row": row, "scale": scale})
    measured = child.run(_LONGEST)
    return {name: measured[name] for name in ("admit", "cycle", "megabytes") if name in measured}


def _targets(found: Mapping[str, Samples], scale: float) -> list[Target]:
    targets = []
    cycles = _of(found, "cycle")
    if len(cycles) > 1:
        worst = max(median(times(cycle, cycles[0])) for cycle in cycles[1:])
        targets += [Target("take…settle of the worst row ÷ first row", worst, MOST_TIMES)]
    waiting = _of(found, "megabytes")
    # With few URLs, the memory that does not depend on their number dominates.
    if scale == 1 and waiting:
        most = max(map(median, waiting))
        targets += [Target("MB for a million waiting URLs", most, MOST_MEGABYTES)]
    return targets


def _of(found: Mapping[str, Samples], measure: str) -> list[list[float]]:
    return [samples[measure] for samples in found.values() if measure in samples]


def show(report: Report) -> str:
    first = next(iter(report.rows.values()))
    ranks = [
        (
            name,
            *(ratio(row, first, what) for what in ("cycle", "admit")),
            *(spread(row.get(what, []), 2) for what in ("cycle", "admit")),
            spread(row.get("megabytes", []), 1),
        )
        for name, row in report.rows.items()
    ]
    head = ("frontier", "× take…settle", "× admit", "µs take…settle", "µs admit", "MB")
    return text(report, table(head, ranks))


def _cpu() -> float:
    """Return the CPU microseconds of this process."""
    return time.process_time() * 1e6


def _resident() -> int:
    """Return the resident bytes of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
