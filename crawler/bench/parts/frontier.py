"""
What the frontier costs: CPU a request, and memory a URL that waits.

Each measurement has a process of its own, so that none inherits the memory of another; the
clock is made up, so that nobody waits for a host to be due. Repeats are interleaved.
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

from ...data import Headers, Link, Response
from ...frontier import DONE, Frontier, Politeness, Retries, Scope, Taken
from ...frontier.hosts.host import Address
from ..measuring.child import Child
from ..measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from ..measuring.rounds import interleaved

#: How much more than the first row a request may cost in any other.
MOST_TIMES = 1.5
#: Below this part of all numbers, rows would be of the same size.
LEAST_SCALE = 0.001
#: How many MB a million waiting URLs may take.
MOST_MEGABYTES = 200

_IN_FLIGHT = 64
#: Seconds that a row may take.
_LONGEST = 600.0
_DELAY = 1.0
_DOMAIN = "bench.test"
_FOUND_ON = f"http://{_DOMAIN}/"
#: Seconds that the hosts of one row have asked to be left alone for.
_BACKED_OFF = "86400"


@dataclass(frozen=True)
class Cost:
    """Microseconds of CPU a request, or the MB that the URLs of a row take while they wait."""

    admit: float
    cycle: float | None = None
    megabytes: float | None = None


class Load:
    """A frontier with *urls* waiting, evenly over *hosts*, and a clock that is made up."""

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
        """Admit all; return the cost of one."""
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
        # Set before anything waits, so that no address has to be looked up.
        table.find_or_add(f"host-{number}.{_DOMAIN}").address = address
    return Cost(load.admit(), load.cycle(requests, step=step))


def backed_off(hosts: int, resting: int, requests: int) -> Cost:
    """Cost of *hosts* beside those *resting*, with nothing to do and not to be asked for a day."""
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
    """Return all measurements; *scale* makes their numbers smaller."""
    if not LEAST_SCALE <= scale <= 1:
        raise ValueError(f"scale must be from {LEAST_SCALE} to 1, not {scale}")

    def few(number: int) -> int:
        return max(20, int(number * scale))

    requests = few(200_000)
    listed = [
        Row("10 hosts", lambda: over_hosts(10, requests)),
        Row(f"{few(1000):,} hosts", lambda: over_hosts(few(1000), requests)),
        Row(f"{few(100_000):,} hosts", lambda: over_hosts(few(100_000), requests)),
        Row(
            f"1 host, {few(1_000_000):,} URLs",
            lambda: one_host(few(1_000_000), requests),
        ),
        Row(
            f"{few(10_000):,} hosts on 1 address",
            lambda: one_address(few(10_000), requests),
        ),
        Row(
            f"{few(1000):,} hosts, {few(250_000):,} backed off",
            lambda: backed_off(few(1000), few(250_000), requests),
        ),
        Row(
            f"{few(1_000_000):,} URLs, {few(50_000):,} hosts",
            lambda: memory(few(50_000), few(1_000_000)),
        ),
        Row(
            f"{few(1_000_000):,} URLs, with max_depth",
            lambda: memory(few(50_000), few(1_000_000), max_depth=5),
        ),
    ]
    return {row.name: row for row in listed}


def measure(row: str, scale: float) -> dict[str, Any]:
    """Measure one row, in a process of its own."""
    costs = asdict(rows(scale)[row].measure())
    return {measure: cost for measure, cost in costs.items() if cost is not None}


def run(scale: float, repeats: int, told: Callable[[str], object] = lambda _: None) -> Report:
    """Measure every row in processes of their own, interleaved."""
    found, failures = interleaved(rows(scale), repeats, lambda name: _sample(name, scale), told)
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
        targets += [Target("take…settle of the worst row, of the first's", worst, MOST_TIMES)]
    waiting = _of(found, "megabytes")
    # What does not depend on their number counts for too much when they are few.
    if scale == 1 and waiting:
        most = max(map(median, waiting))
        targets += [Target("MB for a million URLs that wait", most, MOST_MEGABYTES)]
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
    """Microseconds of CPU that this process has used."""
    return time.process_time() * 1e6


def _resident() -> int:
    """Bytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
