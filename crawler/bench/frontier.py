"""
What the frontier costs: CPU a request, and memory a URL that waits.

    python -m crawler.bench.frontier [--quick] [--repeats N] [--json]

Each measurement has a process of its own, so that none inherits the memory of another; the
clock is made up, so that nobody waits for a host to be due. Of the repeats, which are
interleaved, the best counts.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ..data import Headers, Link, Request, Response
from ..frontier import DONE, Frontier, Politeness, Retries, Scope
from ..frontier.hosts import Address

#: How much more than the first row a request may cost in any other.
MOST_TIMES = 1.5
#: How many MB a million waiting URLs may take.
MOST_MEGABYTES = 200

_IN_FLIGHT = 64
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
        in_flight: deque[Request] = deque()
        most = min(_IN_FLIGHT, self.hosts)
        headers = Headers({"retry-after": _BACKED_OFF})
        began = _cpu()
        for _ in range(requests):
            if len(in_flight) == most:
                self._end(in_flight.popleft(), status, headers)
            self.now += step
            while wait := frontier.next_wake():
                self.now += wait
            in_flight.append(frontier.take())
        for request in in_flight:
            self._end(request, status, headers)
        return (_cpu() - began) / requests

    def _end(self, request: Request, status: int, headers: Headers) -> None:
        response = Response(request.url, status, headers, b"", request, 0.01)
        self.frontier.fetched(request, response)
        self.frontier.settle(request, DONE)


def over_hosts(hosts: int, requests: int) -> Cost:
    load = Load(hosts, max(requests, hosts))
    return Cost(load.admit(), load.cycle(requests))


def one_host(urls: int, requests: int) -> Cost:
    load = Load(1, urls)
    return Cost(load.admit(), load.cycle(requests))


def one_address(hosts: int, requests: int) -> Cost:
    step = _DELAY / hosts
    load = Load(hosts, requests, per_ip=2 * _IN_FLIGHT, ip_delay=step)
    address = Address()
    for number in range(hosts):
        # Set before anything waits, so that no address has to be looked up.
        load.frontier._hosts.known(f"host-{number}.{_DOMAIN}").address = address  # noqa: SLF001
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


def run(scale: float, repeats: int) -> dict[str, Cost]:
    """Measure every row in processes of their own; return the best of each."""
    samples: dict[str, list[Cost]] = {name: [] for name in rows(scale)}
    for _ in range(repeats):
        for name, costs in samples.items():
            costs.append(_in_own_process(name, scale))
    return {name: _best(costs) for name, costs in samples.items()}


def _in_own_process(name: str, scale: float) -> Cost:
    command = [sys.executable, "-m", "crawler.bench.frontier"]
    output = subprocess.check_output([*command, "--row", name, "--scale", str(scale)], text=True)
    return Cost(**json.loads(output))


def _best(costs: list[Cost]) -> Cost:
    return Cost(
        admit=min(cost.admit for cost in costs),
        cycle=min((cost.cycle for cost in costs if cost.cycle is not None), default=None),
        megabytes=min((c.megabytes for c in costs if c.megabytes is not None), default=None),
    )


def table(costs: dict[str, Cost], scale: float) -> str:
    first = next(iter(costs.values()))
    lines = [
        f"{'µs of CPU a request':<34}{'admit':>8}{'×':>7}{'take…settle':>13}{'×':>7}{'MB':>8}  holds"
    ]
    for name, cost in costs.items():
        line = f"{name:<34}{cost.admit:>8.2f}{cost.admit / first.admit:>7.2f}"
        if cost.cycle is not None and first.cycle is not None:
            times = cost.cycle / first.cycle
            line += f"{cost.cycle:>13.2f}{times:>7.2f}{'':>8}"
            line += f"  {_verdict(holds=times <= MOST_TIMES)}"
        elif cost.megabytes is not None:
            line += f"{'':>20}{cost.megabytes:>8.1f}"
            # What does not depend on their number counts for too much when they are few.
            line += f"  {_verdict(holds=cost.megabytes <= MOST_MEGABYTES) if scale == 1 else '-'}"
        lines.append(line)
    lines.append(
        f"to hold: take…settle at most {MOST_TIMES} × the first row; "
        f"at most {MOST_MEGABYTES} MB for a million URLs"
    )
    return "\n".join(lines)


def _verdict(*, holds: bool) -> str:
    return "yes" if holds else "NO"


def _cpu() -> float:
    """Microseconds of CPU that this process has used."""
    return time.process_time() * 1e6


def _resident() -> int:
    """Bytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m crawler.bench.frontier", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of everything")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0, help=argparse.SUPPRESS)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    scale = 0.05 if options.quick else options.scale
    if options.row:
        print(json.dumps(asdict(rows(scale)[options.row].measure())))
        return
    costs = run(scale, options.repeats)
    if options.json:
        print(json.dumps({name: asdict(cost) for name, cost in costs.items()}))
    else:
        print(table(costs, scale))


if __name__ == "__main__":
    main()
